-- A list is taken in its own order: the key that rankings are ordered by falls along the list.
insert into results
select $run, result.stage, answer.query_id, result.doc_id, -result.position, result.score
from native_results as result join native_answers as answer using (line_no);
