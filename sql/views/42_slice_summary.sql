-- The means of every run in every slice. Filter by dimension and split: a query is in a slice of each.
create or replace view slice_summary_all as
select run, stage, label_set, k, split, dimension, slice, n, hit, complete, recall, precision, f1, rr, ap, dcg, ndcg,
       ndcg_exp, judged, leaks, missed, left_out, empty, errored, no_answer
from slice_means
where dimension <> 'all';

create or replace view slice_summary as
from slice_summary_all
where stage = 'final' and label_set in (select current_label_sets.label_set from current_label_sets);
