-- What is wrong between the fields and lines of documents.jsonl.
insert into json_faults
select line_no, 'repeated_document', 'doc_id', doc_id, 'this document stands on line ' || first_line || ' already'
from (
    select line_no, doc_id, min(line_no) over (partition by doc_id) as first_line
    from native_documents
    where doc_id is not null
)
where line_no > first_line;
