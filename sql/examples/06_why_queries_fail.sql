-- Why queries fail
-- What are the causes of failure of each run at 5?
select run, class, count(*) as queries
from failures
where k = 5
group by run, class
order by run, queries desc, class
