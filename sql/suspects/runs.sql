-- What each of these runs has to say about labels that may be at fault.
--
-- Reads   rankings, labels_seen, labelled_ranks, query_metrics, documents, queries, near_documents, variables
--         scored_runs, label_set, query_set, collection; macro suspect_cutoff
-- Fills   run_suspects
insert into run_suspects by name
with scored as (
    select run, query_id, hit from query_metrics
    where list_contains(getvariable('scored_runs'), run) and label_set = getvariable('label_set') and stage = 'final'
      and k = suspect_cutoff() and outcome = 'returned'
), first as (
    -- what came first that the query's user may read, with the grade of its label
    select rankings.run, rankings.query_id, rankings.doc_id, rankings.rank, labels_seen.grade,
           coalesce(labels_seen.relevant, false) as relevant, scored.hit
    from rankings
    join scored on scored.run = rankings.run and scored.query_id = rankings.query_id
    left join labels_seen on labels_seen.query_id = rankings.query_id and labels_seen.doc_id = rankings.doc_id
    left join queries on queries.query_set = getvariable('query_set') and queries.query_id = rankings.query_id
    left join documents on documents.collection = getvariable('collection') and documents.doc_id = rankings.doc_id
    where rankings.stage = 'final' and rankings.rank <= suspect_cutoff()
      and (documents.groups is null or queries.groups is null or list_has_any(documents.groups, queries.groups))
), twins as (
    -- those of the first k that have nearly the same words as a relevant document
    select first.run, first.query_id, first.doc_id, first.rank, labels_seen.doc_id as other_doc_id
    from first
    join near_documents on near_documents.collection = getvariable('collection') and near_documents.doc_id = first.doc_id
    join labels_seen on labels_seen.query_id = first.query_id and labels_seen.doc_id = near_documents.other_doc_id
    where not first.relevant and labels_seen.relevant
)
select run, 'unjudged_on_top' as kind, query_id, doc_id, null as other_doc_id, rank,
       getvariable('label_set') as label_set
from first where hit = 0 and grade is null and rank = 1
union all by name
select run, 'irrelevant_on_top' as kind, query_id, doc_id, rank, getvariable('label_set') as label_set
from first where grade is not null and not relevant and rank = 1
union all by name
-- where the relevant one does not stand there too
select run, 'near_identical' as kind, query_id, doc_id, other_doc_id, rank, getvariable('label_set') as label_set
from twins
anti join (select run, query_id, doc_id as other_doc_id from first) as there using (run, query_id, other_doc_id);
