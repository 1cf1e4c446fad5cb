-- The means of every run at every cutoff, for all its queries and for each split that the queries name.
create or replace view run_summary_all as
with unlabelled as (
    select unlabelled_queries.run, unlabelled_queries.label_set, 'all' as split, count(*) as num
    from unlabelled_queries group by all
    union all
    select unlabelled_queries.run, unlabelled_queries.label_set, queries.split, count(*) as num
    from unlabelled_queries
    join label_sets on label_sets.label_set = unlabelled_queries.label_set
    join queries on queries.query_set = label_sets.query_set and queries.query_id = unlabelled_queries.query_id
    where queries.split is not null
    group by all
)
select slice_means.* exclude (dimension, slice), coalesce(unlabelled.num, 0) as unlabelled
from slice_means
left join unlabelled on unlabelled.run = slice_means.run and unlabelled.label_set = slice_means.label_set
                    and unlabelled.split = slice_means.split
where slice_means.dimension = 'all';

create or replace view run_summary as
from run_summary_all
where stage = 'final' and label_set in (select current_label_sets.label_set from current_label_sets);

-- The means of what is measured on whole rankings. num_unknown counts queries with a value that only the whole file
-- of a run could give: the means leave it out, so they are NULL where it is not 0.
create or replace view run_summary_uncut as
with by_split as (
    select query_scores_uncut.*, 'all' as split from query_scores_uncut
    union all
    select query_scores_uncut.*, queries.split
    from query_scores_uncut
    join label_sets on label_sets.label_set = query_scores_uncut.label_set
    join queries on queries.query_set = label_sets.query_set and queries.query_id = query_scores_uncut.query_id
    where queries.split is not null
)
select run, stage, label_set, split,
       count(*) filter (num_relevant > 0) as n,
       case when count(rr) = n then avg(rr) end as rr,
       case when count(ap) = n then avg(ap) end as ap,
       case when count(ndcg) = n then avg(ndcg) end as ndcg,
       case when count(r_precision) = n then avg(r_precision) end as r_precision,
       count(unknown_because) as num_unknown,
       sum(num_returned)::bigint as num_returned,
       sum(num_relevant)::bigint as num_relevant
from by_split
group by run, stage, label_set, split;
