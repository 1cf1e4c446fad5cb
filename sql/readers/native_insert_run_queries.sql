insert into run_queries
select $run, query_id, status, latency_ms, context_tokens, abstained, error, answer
from native_answers
order by line_no;
