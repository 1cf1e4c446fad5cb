-- The first results of every query of a run whose ranks are known.
--
-- Reads   ranked_input (with `rank`), variables run and keep
-- Fills   rankings
insert into rankings
select getvariable('run') as run, stage, query_id, rank, doc_id, score
from ranked_input
where rank <= getvariable('keep')::bigint;
