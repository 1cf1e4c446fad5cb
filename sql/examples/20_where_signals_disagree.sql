-- Where signals disagree
-- Which rules speak against which runs, against the baselines that these declare?
select run, baseline, rule, status, len(query_ids) as queries, sentence
from signal_conflicts
where split = 'all'
order by status, rule, run
limit 100
