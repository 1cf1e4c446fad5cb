-- The runs of a store, newest first: by when they were created, or added where that is not said.
select runs.run, runs.query_set, runs.collection, runs.created, runs.series, runs.baseline, runs.tags, runs.commit, runs.note,
       runs.num_rows, runs.kept_depth, runs.source_file, runs.added_at,
       query_sets.num_queries, run_summary.label_set, run_summary.n, run_summary.ndcg as ndcg_at_5
from runs
join query_sets on query_sets.query_set = runs.query_set
left join run_summary on run_summary.run = runs.run and run_summary.k = 5 and run_summary.split = 'all'
order by coalesce(runs.created, runs.added_at) desc, runs.run;
