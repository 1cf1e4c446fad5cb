insert into answer_scores
select $run, answer.query_id, score.name, score.value
from native_answer_scores as score join native_answers as answer using (line_no);
