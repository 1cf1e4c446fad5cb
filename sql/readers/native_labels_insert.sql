-- The labels into the workspace; of the same judgement given twice, the first.
insert into labels
select
    $label_set, query_id, doc_id, grade, no_answer,
    rationale, source, reviewer, reviewed, collection, evidence_group
from native_labels
qualify row_number() over (partition by query_id, doc_id order by line_no) = 1
order by line_no;
