-- What moved the mean
-- Did new evidence come in, or did what was there move up?
select move, count(*) as documents, count(distinct query_id) as queries, sum(ndcg_share) as ndcg_sum
from rank_transitions($base, $cand, 5)
group by move
order by ndcg_sum desc
