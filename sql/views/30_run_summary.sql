-- The means of every run at every cutoff, for all its queries and for each split that the queries name.
-- n counts the labelled, answerable queries: the denominator of every mean. A ceiling is the mean that a perfect
-- ranking would get under these labels.
create or replace view run_summary_all as
with by_split as (
    select query_metrics.*, 'all' as split from query_metrics
    union all
    select query_metrics.*, queries.split
    from query_metrics
    join label_sets on label_sets.label_set = query_metrics.label_set
    join queries on queries.query_set = label_sets.query_set and queries.query_id = query_metrics.query_id
    where queries.split is not null
), unlabelled as (
    select unlabelled_queries.run, unlabelled_queries.label_set, 'all' as split, count(*) as num
    from unlabelled_queries group by all
    union all
    select unlabelled_queries.run, unlabelled_queries.label_set, queries.split, count(*) as num
    from unlabelled_queries
    join label_sets on label_sets.label_set = unlabelled_queries.label_set
    join queries on queries.query_set = label_sets.query_set and queries.query_id = unlabelled_queries.query_id
    where queries.split is not null
    group by all
), means as (
    select run, stage, label_set, k, split,
           count(*) filter (num_relevant > 0) as n,
           avg(hit) as hit, avg(complete) as complete, avg(recall) as recall, avg(precision) as precision, avg(f1) as f1,
           avg(rr) as rr, avg(ap) as ap, avg(dcg) as dcg, avg(ndcg) as ndcg, avg(ndcg_exp) as ndcg_exp,
           avg(judged) as judged, sum(leaks)::bigint as leaks,
           avg(least(num_relevant, k) / k) filter (num_relevant > 0) as precision_ceiling,
           avg(least(num_relevant, k) / num_relevant) filter (num_relevant > 0) as recall_ceiling,
           avg((num_relevant <= k)::integer) filter (num_relevant > 0) as complete_ceiling,
           avg(2 * least(num_relevant, k) / (k + num_relevant)) filter (num_relevant > 0) as f1_ceiling,
           avg(least(num_relevant, k) / num_relevant) filter (num_relevant > 0) as ap_ceiling,
           count(*) as num_queries,
           count(*) filter (hit = 0) as missed,
           count(*) filter (outcome = 'left_out') as left_out,
           count(*) filter (outcome = 'empty') as empty,
           count(*) filter (outcome in ('error', 'timeout')) as errored,
           count(*) filter (num_relevant = 0) as no_answer,
           avg(abstained::integer) filter (num_relevant = 0) as correct_abstention,
           avg(abstained::integer) filter (num_relevant > 0) as false_abstention
    from by_split
    group by run, stage, label_set, k, split
)
select means.*, coalesce(unlabelled.num, 0) as unlabelled
from means
left join unlabelled on unlabelled.run = means.run and unlabelled.label_set = means.label_set
                    and unlabelled.split = means.split;

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
