-- The labels as each query's user sees them. A document that the user may not read is neither relevant nor ideal,
-- whatever its grade. A labelled document that the collection does not hold counts as readable.
--
-- Reads   labels, label_sets, queries, documents, variable label_set
-- Makes   labels_seen, labelled_queries (num_relevant 0: nothing that this user may read answers the query)
create or replace temp table labels_seen as
select labels.query_id, labels.doc_id, labels.grade,
       documents.groups is null or queries.groups is null or list_has_any(documents.groups, queries.groups) as readable,
       readable and labels.grade >= label_sets.relevant_from as relevant,
       case when readable then greatest(labels.grade, 0) else 0 end as gain
from labels
join label_sets on label_sets.label_set = labels.label_set
left join queries on queries.query_set = label_sets.query_set and queries.query_id = labels.query_id
left join documents on documents.collection = label_sets.collection and documents.doc_id = labels.doc_id
where labels.label_set = getvariable('label_set') and labels.doc_id is not null;

create or replace temp table labelled_queries as
select labels.query_id, coalesce(any_value(seen.num_relevant), 0)::integer as num_relevant
from labels
left join (select query_id, count(*) filter (relevant) as num_relevant from labels_seen group by query_id) as seen
       on seen.query_id = labels.query_id
where labels.label_set = getvariable('label_set')
group by labels.query_id;
