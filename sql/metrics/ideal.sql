-- The DCG of the best possible ranking, over all labels the user may read, at every cutoff and without one (k NULL).
--
-- Reads   labels_seen, wanted_cutoffs(k)
-- Makes   ideal_dcg
create or replace temp table ideal_dcg as
with ideal_ranking as (
    select query_id, gain, row_number() over (partition by query_id order by gain desc) as rank
    from labels_seen where gain > 0
)
select query_id, k, sum(gain / log2(rank + 1)) as dcg, sum((pow(2, gain) - 1) / log2(rank + 1)) as dcg_exp
from ideal_ranking join wanted_cutoffs on rank <= k group by query_id, k
union all
select query_id, null as k, sum(gain / log2(rank + 1)) as dcg, null as dcg_exp
from ideal_ranking group by query_id;
