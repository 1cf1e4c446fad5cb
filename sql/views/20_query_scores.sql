-- The metrics of every labelled query at every cutoff: all stages and label sets, then what a plain average wants.
create or replace view query_scores_all as
select run, stage, label_set, query_id, k, hit, complete, recall, precision, f1, rr, ap, dcg, ndcg, ndcg_exp, judged,
       leaks, outcome, abstained, num_relevant, found
from query_metrics;

create or replace view query_scores as
from query_scores_all
where stage = 'final' and label_set in (select current_label_sets.label_set from current_label_sets);

-- The same without a cutoff.
create or replace view query_scores_uncut_all as
select run, stage, label_set, query_id, rr, ap, dcg, ndcg, r_precision, first_relevant_rank, num_relevant, num_returned,
       outcome, abstained, unknown_because
from query_metrics_uncut;

create or replace view query_scores_uncut as
from query_scores_uncut_all
where stage = 'final' and label_set in (select current_label_sets.label_set from current_label_sets);
