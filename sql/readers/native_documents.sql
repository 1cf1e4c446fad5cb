-- Lines of documents.jsonl as columns.
insert into native_documents
select
    line_no,
    json_id(any_value(value) filter (field = 'doc_id')) as doc_id,
    json_text(any_value(value) filter (field = 'title')) as title,
    json_text(any_value(value) filter (field = 'text')) as text,
    json_texts(any_value(value) filter (field = 'groups')) as groups
from json_members
where type <> 'NULL'
group by line_no;
