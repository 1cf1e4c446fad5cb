-- A document may stand in a ranking once.
insert into json_faults
select
    result.line_no, 'duplicate_document', any_value(list.field), result.doc_id,
    'this document stands at the places ' || array_to_string(list(result.position order by result.position)[:5], ', ')
    || ' of one ranking: expected once (--collapse first keeps the first)'
from native_results as result
    join native_lists as list on list.line_no = result.line_no and list.stage = result.stage
group by result.line_no, result.stage, result.doc_id
having count(*) > 1;
