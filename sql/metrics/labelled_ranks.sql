-- The rank of every labelled document that came back, at any depth.
--
-- Reads   labels_seen, outcomes, rankings, ranked_input, variables run, label_set
-- Fills   labelled_ranks
--
-- Within the kept part the rank is known. Beyond it, in a run that was cut, it is counted (the rows above it) where
-- a query has few such documents, and found by a window over that query where it has many: counting wins up to
-- about ten a query, and at fifty is five times slower.
insert into labelled_ranks
with within as (
    select rankings.stage, labels_seen.*, rankings.rank
    from labels_seen
    join rankings on rankings.run = getvariable('run')
                 and rankings.query_id = labels_seen.query_id and rankings.doc_id = labels_seen.doc_id
), cut as (
    -- stages and queries of which not everything was kept
    select ranking_lengths.stage, ranking_lengths.query_id
    from ranking_lengths
    where ranking_lengths.run = getvariable('run') and ranking_lengths.num_returned > getvariable('keep')::bigint
), beyond as (
    select ranked_input.stage, labels_seen.*, ranked_input.key,
           count(*) over (partition by ranked_input.stage, ranked_input.query_id) as many
    from ranked_input
    join labels_seen using (query_id, doc_id)
    semi join cut on cut.stage = ranked_input.stage and cut.query_id = ranked_input.query_id
    anti join within on within.stage = ranked_input.stage
                    and within.query_id = ranked_input.query_id and within.doc_id = ranked_input.doc_id
), counted as (
    select beyond.stage, beyond.query_id, beyond.doc_id,
           1 + count(*) filter (above.key > beyond.key or (above.key = beyond.key and above.doc_id > beyond.doc_id)) as rank
    from beyond join ranked_input as above using (stage, query_id)
    where beyond.many <= 10
    group by all
), windowed as (
    select stage, query_id, doc_id,
           row_number() over (partition by stage, query_id order by key desc, doc_id desc) as rank
    from ranked_input
    semi join (from beyond where beyond.many > 10) as crowded using (stage, query_id)
), ranked as (
    from within
    union all by name
    select beyond.* exclude (key, many), rank
    from beyond join (from counted union all from windowed) using (stage, query_id, doc_id)
)
select getvariable('run') as run, ranked.stage, getvariable('label_set') as label_set, ranked.query_id, ranked.doc_id,
       ranked.grade, ranked.readable, ranked.relevant, ranked.gain, ranked.rank
from ranked
join outcomes on outcomes.stage = ranked.stage and outcomes.query_id = ranked.query_id
where outcomes.outcome = 'returned';
