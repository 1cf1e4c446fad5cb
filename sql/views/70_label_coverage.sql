-- How far the labels reach into what a run returned: where judged is low, a low score may be the labels' doing.
create or replace view label_coverage as
select run, stage, label_set, k,
       count(judged) as n,
       avg(judged) as judged,
       min(judged) as lowest_judged,
       count(*) filter (judged = 0) as wholly_unjudged,
       count(*) filter (judged = 1) as wholly_judged
from query_scores
group by run, stage, label_set, k;
