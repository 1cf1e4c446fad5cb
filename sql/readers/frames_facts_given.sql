-- Whether results that were given query by query say more of a query than what came back.
select count(*)
from native_answers left join (select distinct line_no, true as scored from native_answer_scores) using (line_no)
where
    status <> 'ok' or scored
    or coalesce(latency_ms::varchar, context_tokens::varchar, abstained::varchar, error, answer) is not null;
