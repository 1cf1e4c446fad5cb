-- Queries that moved most
-- Where did NDCG rise or fall between two runs?
select deltas.query_id, queries.text as question, deltas.baseline, deltas.candidate, deltas.difference
from query_deltas($base, $cand, 5) as deltas
join runs on runs.run = $cand
join queries on queries.query_set = runs.query_set and queries.query_id = deltas.query_id
where deltas.metric = 'ndcg' and deltas.difference <> 0
order by abs(deltas.difference) desc, deltas.query_id
limit 30
