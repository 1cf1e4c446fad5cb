-- What there is to score with: query sets, label sets and collections, what is in them, and where they fall short.
create or replace view query_set_summary as
with current as (
    select distinct label_sets.query_set
    from label_sets semi join current_label_sets on current_label_sets.label_set = label_sets.label_set
), counted as (
    select query_set, count(text) as with_text, count(*) filter (must_pass) as must_pass, count(groups) as with_groups,
           count(distinct split) as splits, count(distinct category) as categories, count(distinct language) as languages
    from queries group by query_set
)
select query_sets.query_set, query_sets.name, query_sets.revision, query_sets.added_at,
       current.query_set is not null as is_current,
       query_sets.num_queries,
       coalesce(counted.with_text, 0) as with_text, coalesce(counted.must_pass, 0) as must_pass,
       coalesce(counted.with_groups, 0) as with_groups, coalesce(counted.splits, 0) as splits,
       coalesce(counted.categories, 0) as categories, coalesce(counted.languages, 0) as languages
from query_sets
left join current on current.query_set = query_sets.query_set
left join counted on counted.query_set = query_sets.query_set;

create or replace view collection_summary as
with current as (
    select distinct label_sets.collection
    from label_sets semi join current_label_sets on current_label_sets.label_set = label_sets.label_set
), counted as (
    select collection, count(text) as with_text, count(groups) as restricted from documents group by collection
), searched as (
    select collection, count(*) as num_runs from runs group by collection
)
select collections.collection, collections.name, collections.version, collections.unit, collections.id_scheme,
       collections.added_at, current.collection is not null as is_current, collections.num_documents,
       coalesce(counted.with_text, 0) as with_text, coalesce(counted.restricted, 0) as restricted,
       coalesce(searched.num_runs, 0) as num_runs
from collections
left join current on current.collection = collections.collection
left join counted on counted.collection = collections.collection
left join searched on searched.collection = collections.collection;

-- Queries that have neither a label nor a no-answer line: those of the query set, and those that only runs have.
create or replace view queries_without_labels as
select label_set, query_id, bool_or(in_query_set) as in_query_set, count(run) as num_runs
from (
    select label_sets.label_set, queries.query_id, true as in_query_set, null as run
    from label_sets
    join queries on queries.query_set = label_sets.query_set
    anti join labels on labels.label_set = label_sets.label_set and labels.query_id = queries.query_id
    union all
    select unlabelled_queries.label_set, unlabelled_queries.query_id, false, unlabelled_queries.run
    from unlabelled_queries
    semi join run_queries on run_queries.run = unlabelled_queries.run
                         and run_queries.query_id = unlabelled_queries.query_id
)
group by label_set, query_id;

create or replace view label_set_summary as
with counted as (
    select labels.label_set,
           count(*) filter (labels.grade >= label_sets.relevant_from) as relevant_labels,
           count(distinct labels.query_id) as labelled_queries,
           count(*) filter (labels.no_answer) as no_answer_lines,
           count(labels.rationale) as with_rationale,
           list(distinct labels.reviewer order by labels.reviewer) filter (labels.reviewer is not null) as reviewers,
           max(labels.reviewed) as last_reviewed
    from labels join label_sets on label_sets.label_set = labels.label_set
    group by labels.label_set
), unlabelled as (
    select label_set, count(*) as num from queries_without_labels where in_query_set group by label_set
), scored as (
    select label_set, count(*) as num from scorings group by label_set
), waiting as (
    select label_set, count(*) as num from runs_to_rescore group by label_set
)
select label_sets.label_set, query_sets.name, label_sets.revision, label_sets.query_set, label_sets.collection,
       label_sets.added_at, current_label_sets.label_set is not null as is_current, label_sets.relevant_from,
       label_sets.reviewer, coalesce(counted.reviewers, []) as reviewers, counted.last_reviewed,
       label_sets.num_labels, coalesce(counted.relevant_labels, 0) as relevant_labels,
       coalesce(counted.with_rationale, 0) as with_rationale,
       coalesce(counted.labelled_queries, 0) as labelled_queries,
       coalesce(counted.no_answer_lines, 0) as no_answer_lines, coalesce(unlabelled.num, 0) as unlabelled,
       coalesce(scored.num, 0) as scored_runs, coalesce(waiting.num, 0) as waiting_runs
from label_sets
join query_sets on query_sets.query_set = label_sets.query_set
left join current_label_sets on current_label_sets.label_set = label_sets.label_set
left join counted on counted.label_set = label_sets.label_set
left join unlabelled on unlabelled.label_set = label_sets.label_set
left join scored on scored.label_set = label_sets.label_set
left join waiting on waiting.label_set = label_sets.label_set;

create or replace view grade_counts as
select labels.label_set, labels.grade, labels.grade >= label_sets.relevant_from as relevant,
       count(*) as num_labels, count(distinct labels.query_id) as num_queries
from labels join label_sets on label_sets.label_set = labels.label_set
where labels.grade is not null
group by labels.label_set, labels.grade, label_sets.relevant_from;

-- Labels whose document no scored run returned for the query, at any stage and depth. Of a run that was scored from its
-- kept part alone (num_cut counts those) nothing is known beyond that part.
create or replace view labels_never_returned as
with scored as (
    select label_set, count(*) as num_runs, count(depth) as num_cut from scorings group by label_set
)
select labels.label_set, labels.query_id, labels.doc_id, labels.grade,
       labels.grade >= label_sets.relevant_from
           and (documents.groups is null or queries.groups is null or list_has_any(documents.groups, queries.groups))
           as relevant,
       scored.num_runs, scored.num_cut
from labels
join scored on scored.label_set = labels.label_set
join label_sets on label_sets.label_set = labels.label_set
left join queries on queries.query_set = label_sets.query_set and queries.query_id = labels.query_id
left join documents on documents.collection = label_sets.collection and documents.doc_id = labels.doc_id
anti join labelled_ranks on labelled_ranks.label_set = labels.label_set
                        and labelled_ranks.query_id = labels.query_id and labelled_ranks.doc_id = labels.doc_id
where labels.doc_id is not null;

-- Labels about documents that are not in the collection, where that has any: they count as readable by everyone.
create or replace view labels_without_document as
select labels.label_set, labels.query_id, labels.doc_id, labels.grade, label_sets.collection
from labels
join label_sets on label_sets.label_set = labels.label_set
join collections on collections.collection = label_sets.collection and collections.num_documents > 0
anti join documents on documents.collection = label_sets.collection and documents.doc_id = labels.doc_id
where labels.doc_id is not null;
