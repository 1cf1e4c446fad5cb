-- How far the labels reach
-- Is a low score the run's doing, or are its results not labelled?
select coverage.run, coverage.k, coverage.judged, coverage.wholly_unjudged, coverage.n, summary.ndcg
from label_coverage as coverage
join run_summary as summary on summary.run = coverage.run and summary.k = coverage.k and summary.split = 'all'
order by coverage.run, coverage.k
