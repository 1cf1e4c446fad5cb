-- The means of a run in every slice, for all queries and for each split that the queries name.
--
-- Reads   query_metrics, query_slices, queries, labelled_queries, variables run, label_set, query_set; macro means
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
select scores.run, scores.stage, scores.label_set, scores.k, splits.split, slices.dimension, slices.slice,
       unnest(means(scores))
from query_metrics as scores
join slices on slices.query_id = scores.query_id
join splits on splits.query_id = scores.query_id
where scores.run = getvariable('run') and scores.label_set = getvariable('label_set')
group by scores.run, scores.stage, scores.label_set, scores.k, splits.split, slices.dimension, slices.slice;
