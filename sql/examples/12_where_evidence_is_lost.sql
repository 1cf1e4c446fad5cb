-- Where evidence is lost
-- How much evidence does each stage of a pipeline hold and pass on?
select run, position, stage, num_relevant, present, passed_on, passed_on / num_relevant as share
from stage_funnel
where k = 5
order by run, position
