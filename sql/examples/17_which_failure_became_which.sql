-- Failures mended and made
-- Which cause of failure turned into which, from the one run to the other?
select baseline_class, candidate_class, count(*) as queries
from failure_changes($base, $cand, 5)
group by baseline_class, candidate_class
order by queries desc, baseline_class, candidate_class
