-- The means of a run in every slice, for all queries and for each split that the queries name.
--
-- Reads   query_metrics, query_slices, queries, labelled_queries, variables run, label_set, query_set
-- Fills   slice_means
insert into slice_means by name
with slices as (
    select query_id, 'all' as dimension, 'all' as slice from labelled_queries
    union all
    select query_id, dimension, slice from query_slices where query_set = getvariable('query_set')
), splits as (
    select query_id, 'all' as split from labelled_queries
    union all
    select query_id, split from queries where query_set = getvariable('query_set') and split is not null
)
select run, stage, label_set, k, split, dimension, slice,
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
from query_metrics
join slices using (query_id)
join splits using (query_id)
where run = getvariable('run') and label_set = getvariable('label_set')
group by run, stage, label_set, k, split, dimension, slice;
