-- Two runs compared
-- In which metrics is the one better, and in how many queries?
select metric, baseline, candidate, difference, wins, ties, losses, n
from run_comparison($base, $cand, 5)
