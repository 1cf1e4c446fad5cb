-- Results that were given query by query. A list is taken in its own order: the key falls along it.
-- $by_score: they are {document: score}, which has no order of its own.
insert into frame_results
select answer.line_no, result.stage, answer.query_id, result.doc_id,
    if($by_score, result.score, 0 - result.position), result.score, null
from native_results as result join native_answers as answer using (line_no);
