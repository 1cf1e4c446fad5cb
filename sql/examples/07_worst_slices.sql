-- The worst slices
-- Where do runs do worst, leaving thin slices aside?
select run, dimension, slice, n, ndcg, hit, recall
from slice_summary
where k = 5 and split = $split and n >= least(10, (select max(n) from slice_summary))
order by ndcg, run
limit 30
