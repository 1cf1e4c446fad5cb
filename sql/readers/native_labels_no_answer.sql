-- A query cannot both be answered by a document and have no answer.
insert into json_faults
select
    silent.line_no, 'answered_no_answer', 'no_answer', 'true',
    'query ' || left(silent.query_id, 60) || ' has a relevant label on line ' || min(label.line_no)
    || ': expected either labels from grade ' || $relevant_from || ' on, or no_answer'
from native_labels as silent
    join native_labels as label on label.query_id = silent.query_id
where silent.no_answer and not label.no_answer and label.grade >= $relevant_from
group by silent.line_no, silent.query_id;
