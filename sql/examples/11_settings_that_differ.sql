-- Settings that differ
-- What was changed between two runs?
select setting, baseline, candidate
from config_diff($base, $cand)
order by setting
