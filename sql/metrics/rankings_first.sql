-- The first results of every query, for a run too large to be kept whole.
--
-- Reads   ranked_input, variables run and keep (at least every cutoff)
-- Fills   rankings
--
-- max(struct, n) keeps n rows a query and never sorts the rest. The struct, not the key alone, decides, so that
-- ties at the last kept rank fall as they do in rankings_whole.sql.
insert into rankings
select getvariable('run') as run, stage, query_id, i as rank, kept[i].doc_id, kept[i].score
from (select stage, query_id,
             max({'key': key, 'doc_id': doc_id, 'score': score}, getvariable('keep')::bigint) as kept
      from ranked_input group by stage, query_id),
     lateral (select unnest(range(1, len(kept) + 1)) as i);
