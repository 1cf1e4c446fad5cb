-- What became of every labelled query at every stage of the run. Partial results of a query that failed are shown
-- to people, and scored as nothing.
--
-- Reads   labelled_queries, run_queries, run_stages, ranking_lengths, variable run
-- Makes   outcomes
create or replace temp table outcomes as
select run_stages.stage, labelled_queries.query_id, labelled_queries.num_relevant,
       coalesce(ranking_lengths.num_returned, 0) as num_returned,
       case when run_queries.query_id is null then 'left_out'
            when run_queries.status <> 'ok' then run_queries.status
            when coalesce(ranking_lengths.num_returned, 0) = 0 then 'empty'
            else 'returned' end as outcome,
       coalesce(run_queries.status = 'ok' and (run_queries.abstained or coalesce(final.num_returned, 0) = 0), false)
           as abstained
from labelled_queries
join run_stages on run_stages.run = getvariable('run')
left join run_queries on run_queries.run = getvariable('run') and run_queries.query_id = labelled_queries.query_id
left join ranking_lengths on ranking_lengths.run = getvariable('run') and ranking_lengths.stage = run_stages.stage
                         and ranking_lengths.query_id = labelled_queries.query_id
left join ranking_lengths as final on final.run = getvariable('run') and final.stage = 'final'
                                  and final.query_id = labelled_queries.query_id;
