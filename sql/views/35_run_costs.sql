-- What a run took, over the queries that ran to their end and of which it was recorded: an error or a timeout has the
-- time of its failure, not of an answer. It takes the alias of rows of run_queries, as means does of scores.
create or replace macro costs(results) as {
    'n_timed': count(results.latency_ms) filter (results.status = 'ok'),
    'latency_p50_ms': quantile_cont(results.latency_ms, 0.5) filter (results.status = 'ok'),
    'latency_p95_ms': quantile_cont(results.latency_ms, 0.95) filter (results.status = 'ok'),
    'n_context': count(results.context_tokens) filter (results.status = 'ok'),
    'context_tokens_mean': avg(results.context_tokens) filter (results.status = 'ok'),
    'context_tokens_max': max(results.context_tokens) filter (results.status = 'ok')
};

-- Latency and context size of every run that recorded any, for all its queries and for each split that they name.
create or replace view run_costs as
with recorded as (
    select run_queries.run, runs.query_set, run_queries.query_id, run_queries.status, run_queries.latency_ms,
           run_queries.context_tokens
    from run_queries
    join runs on runs.run = run_queries.run
    where run_queries.latency_ms is not null or run_queries.context_tokens is not null
), by_split as (
    select run, status, latency_ms, context_tokens, 'all' as split from recorded
    union all
    select recorded.run, recorded.status, recorded.latency_ms, recorded.context_tokens, queries.split
    from recorded
    join queries on queries.query_set = recorded.query_set and queries.query_id = recorded.query_id
    where queries.split is not null
)
select run, split, unnest(costs(by_split)) from by_split group by run, split;
