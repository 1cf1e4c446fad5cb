-- What each query took in both runs, where both ran to their end and recorded it.
select b.query_id, b.latency_ms as b_latency_ms, c.latency_ms as c_latency_ms,
       b.context_tokens::double as b_context_tokens, c.context_tokens::double as c_context_tokens
from run_queries as b
join run_queries as c on c.run = $cand and c.query_id = b.query_id
where b.run = $base and b.status = 'ok' and c.status = 'ok'
  and (b.latency_ms is not null and c.latency_ms is not null
       or b.context_tokens is not null and c.context_tokens is not null)
  and ($queries::varchar[] is null or b.query_id in (select unnest($queries::varchar[])))
order by b.query_id
