-- Every query in every slice it belongs to: a row per query and dimension (category, language, split, must_pass, and
-- each attribute), and one per tag. '(none)' where the query does not say.
create or replace view query_slices as
select query_set, query_id, dimension, coalesce(slice, '(none)') as slice
from (
    select query_set, query_id, unnest([
        {'dimension': 'category', 'slice': category},
        {'dimension': 'language', 'slice': language},
        {'dimension': 'split', 'slice': split},
        {'dimension': 'must_pass', 'slice': must_pass::varchar}
    ], recursive := true)
    from queries
    union all
    select query_set, query_id, 'tag', unnest(tags) from queries
    union all
    select query_set, query_id, unnest(map_keys(attributes)), unnest(map_values(attributes)) from queries
);

-- The means of every run in every slice. Filter by dimension: a query is in a slice of each.
create or replace view slice_summary_all as
select query_metrics.run, query_metrics.stage, query_metrics.label_set, query_metrics.k,
       query_slices.dimension, query_slices.slice,
       count(*) filter (num_relevant > 0) as n,
       avg(hit) as hit, avg(complete) as complete, avg(recall) as recall, avg(precision) as precision, avg(f1) as f1,
       avg(rr) as rr, avg(ap) as ap, avg(dcg) as dcg, avg(ndcg) as ndcg, avg(ndcg_exp) as ndcg_exp,
       avg(judged) as judged, sum(leaks)::bigint as leaks,
       count(*) filter (hit = 0) as missed,
       count(*) filter (outcome in ('left_out', 'error', 'timeout')) as not_scored
from query_metrics
join label_sets on label_sets.label_set = query_metrics.label_set
join query_slices on query_slices.query_set = label_sets.query_set and query_slices.query_id = query_metrics.query_id
group by all;

create or replace view slice_summary as
from slice_summary_all
where stage = 'final' and label_set in (select current_label_sets.label_set from current_label_sets);
