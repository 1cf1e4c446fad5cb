-- Lines of labels.jsonl as columns.
insert into native_labels
select
    line_no,
    json_id(any_value(value) filter (field = 'query_id')) as query_id,
    json_id(any_value(value) filter (field = 'doc_id')) as doc_id,
    try_cast(json_whole(any_value(value) filter (field = 'grade')) as integer) as grade,
    coalesce(json_flag(any_value(value) filter (field = 'no_answer')), false) as no_answer,
    json_text(any_value(value) filter (field = 'rationale')) as rationale,
    json_text(any_value(value) filter (field = 'source')) as source,
    json_text(any_value(value) filter (field = 'reviewer')) as reviewer,
    json_date(any_value(value) filter (field = 'reviewed')) as reviewed,
    json_text(any_value(value) filter (field = 'collection')) as collection,
    json_text(any_value(value) filter (field = 'evidence_group')) as evidence_group,
    coalesce(bool_or(field = 'doc_id'), false) as names_document,
    coalesce(bool_or(field = 'grade'), false) as names_grade
from json_members
where type <> 'NULL'
group by line_no;
