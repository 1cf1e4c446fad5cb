-- The rank of every labelled document that came back, at any depth, in a run whose ranks are known.
--
-- Reads   labels_seen, outcomes, ranked_input (with `rank`, and `pair`: the hash of query_id and doc_id), variables
--         run, label_set
-- Fills   labelled_ranks
--
-- Looking for hashes first, which are few where labels are, is ten times as fast as looking for the ids themselves.
insert into labelled_ranks
with likely as materialized (
    select ranked_input.stage, ranked_input.query_id, ranked_input.doc_id, ranked_input.rank
    from ranked_input
    where ranked_input.pair in (select hash(labels_seen.query_id, labels_seen.doc_id) from labels_seen)
)
select getvariable('run') as run, likely.stage, getvariable('label_set') as label_set, likely.query_id, likely.doc_id,
       labels_seen.grade, labels_seen.readable, labels_seen.relevant, labels_seen.gain, likely.rank
from labels_seen
join likely on likely.query_id = labels_seen.query_id and likely.doc_id = labels_seen.doc_id
join outcomes on outcomes.stage = likely.stage and outcomes.query_id = labels_seen.query_id
where outcomes.outcome = 'returned';
