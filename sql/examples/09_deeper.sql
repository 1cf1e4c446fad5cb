-- What a larger k would bring
-- How do hit rate and recall grow with the cutoff?
select run, k, hit, recall, complete, n
from run_summary
where split = $split
order by run, k
