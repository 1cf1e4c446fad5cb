-- How many results every query of the run brought back, kept or not.
--
-- Reads   ranked_input, variable run
-- Fills   ranking_lengths
insert into ranking_lengths
select getvariable('run') as run, stage, query_id, count(*) as num_returned
from ranked_input group by stage, query_id;
