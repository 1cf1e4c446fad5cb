-- Queries without any label or no-answer line: those of the query set, and those that only the run has.
--
-- Reads   queries, run_queries, labelled_queries, variables run, label_set, query_set
-- Fills   unlabelled_queries
insert into unlabelled_queries
select getvariable('run') as run, getvariable('label_set') as label_set, query_id
from (select query_id from queries where query_set = getvariable('query_set')
      union
      select query_id from run_queries where run = getvariable('run'))
anti join labelled_queries using (query_id)
order by query_id;
