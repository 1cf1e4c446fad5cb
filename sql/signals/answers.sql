-- The scores of the answers to each query that both runs have, by the name of the score.
select b.name, b.query_id, b.value as baseline, c.value as candidate
from answer_scores as b
join answer_scores as c on c.run = $cand and c.query_id = b.query_id and c.name = b.name
where b.run = $base and ($queries::varchar[] is null or b.query_id in (select unnest($queries::varchar[])))
order by b.name, b.query_id
