-- Every query that the run has results or facts for.
insert into run_queries by name
select
    $run as run, query_id, coalesce(status, 'ok') as status,
    latency_ms, context_tokens, abstained, error, answer
from (
    select query_id from ranking_lengths where run = $run
    union
    select query_id from frame_queries
    union
    select query_id from native_answers
) left join native_answers using (query_id)
order by query_id;
