-- The leaderboard
-- Which run is best at 5, and by how many queries is that measured?
select run, n, ndcg, hit, recall, precision, rr, missed
from run_summary
where k = 5 and split = $split
order by ndcg desc, run
