-- Missed by every run
-- Which questions does no run answer in its first 5?
select query_scores.query_id, any_value(queries.text) as question, count(*) as runs,
       max(query_scores.num_relevant) as num_relevant
from query_scores
join runs on runs.run = query_scores.run
join queries on queries.query_set = runs.query_set and queries.query_id = query_scores.query_id
where query_scores.k = 5 and query_scores.num_relevant > 0
group by query_scores.query_id
having max(query_scores.hit) = 0
order by query_scores.query_id
