-- Latency beside quality
-- What does a better ranking cost in time and context?
select run_queries.run, count(*) as queries,
       quantile_cont(run_queries.latency_ms, 0.5) as median_ms,
       quantile_cont(run_queries.latency_ms, 0.95) as p95_ms,
       avg(run_queries.context_tokens) as context_tokens,
       any_value(run_summary.ndcg) as ndcg
from run_queries
join run_summary on run_summary.run = run_queries.run and run_summary.k = 5 and run_summary.split = 'all'
group by run_queries.run
order by ndcg desc, run_queries.run
