-- Every metric of two runs at every cutoff, query by query, as query_deltas has them at one: answerable queries that
-- both have, by id. $queries: only these; NULL: all.
select b.k, b.query_id,
       b.hit as b_hit, b.complete as b_complete, b.recall as b_recall, b.precision as b_precision, b.f1 as b_f1,
       b.rr as b_rr, b.ap as b_ap, b.ndcg as b_ndcg, b.ndcg_exp as b_ndcg_exp, b.judged as b_judged,
       c.hit as c_hit, c.complete as c_complete, c.recall as c_recall, c.precision as c_precision, c.f1 as c_f1,
       c.rr as c_rr, c.ap as c_ap, c.ndcg as c_ndcg, c.ndcg_exp as c_ndcg_exp, c.judged as c_judged
from query_metrics as b
join query_metrics as c on c.run = $cand and c.label_set = b.label_set and c.stage = b.stage and c.k = b.k
                       and c.query_id = b.query_id
where b.run = $base and b.label_set = $label_set and b.stage = 'final' and b.num_relevant > 0
  and ($queries::varchar[] is null or b.query_id in (select unnest($queries::varchar[])))
order by b.k, b.query_id
