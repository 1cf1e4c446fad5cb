-- The rankings of a run of which everything is kept.
--
-- Reads   ranked_input(stage, query_id, doc_id, key, score), variable run
-- Fills   rankings
--
-- Order: key descending, then document id descending by its UTF-8 bytes, as trec_eval has it. The key is the score
-- of a TREC run; for a list it falls with the position, so that the list's own order stands.
insert into rankings
select getvariable('run') as run, stage, query_id,
       row_number() over (partition by stage, query_id order by key desc, doc_id desc) as rank,
       doc_id, score
from ranked_input;
