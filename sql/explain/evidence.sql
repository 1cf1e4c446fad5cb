-- Every label of one query, with its document and that document's rank at each stage of the run.
--
-- Reads   parameters run, query_id, label_set
select labels.doc_id, documents.title, labels.grade, labels.grade >= label_sets.relevant_from as relevant,
       documents.groups is null or queries.groups is null or list_has_any(documents.groups, queries.groups) as readable,
       labels.rationale,
       list({'stage': run_stages.stage, 'rank': rankings.rank, 'cut': run_stages.cut}
            order by run_stages.position, run_stages.stage) as ranks
from labels
join label_sets on label_sets.label_set = labels.label_set
left join queries on queries.query_set = label_sets.query_set and queries.query_id = labels.query_id
left join documents on documents.collection = label_sets.collection and documents.doc_id = labels.doc_id
join run_stages on run_stages.run = $run
left join (
    -- what is kept, and of labelled documents the rank below it
    select rankings.stage, rankings.doc_id, rankings.rank
    from rankings where rankings.run = $run and rankings.query_id = $query_id
    union
    select labelled_ranks.stage, labelled_ranks.doc_id, labelled_ranks.rank
    from labelled_ranks
    where labelled_ranks.run = $run and labelled_ranks.query_id = $query_id and labelled_ranks.label_set = $label_set
) as rankings on rankings.stage = run_stages.stage and rankings.doc_id = labels.doc_id
where labels.label_set = $label_set and labels.query_id = $query_id and labels.doc_id is not null
group by labels.doc_id, documents.title, labels.grade, relevant, readable, labels.rationale
order by relevant desc, labels.grade desc, labels.doc_id;
