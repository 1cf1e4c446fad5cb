-- The runs with scores under these labels that declare a baseline with scores under them as well, where both were asked
-- the same queries over the same collection. $runs: only where one of the two is among these.
select r.run, b.run as baseline, rs.scored_at as run_scored_at, bs.scored_at as baseline_scored_at
from runs as r
join runs as b on b.run = r.baseline and b.run <> r.run and b.query_set = r.query_set and b.collection = r.collection
join scorings as rs on rs.run = r.run and rs.label_set = $label_set
join scorings as bs on bs.run = b.run and bs.label_set = $label_set
where list_contains($runs::varchar[], r.run) or list_contains($runs::varchar[], b.run)
order by r.run
