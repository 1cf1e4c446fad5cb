-- The account of the change over the queries that are compared.
select a.metric, a.move, a.baseline_hit, a.num_documents, a.num_queries, a.share
from change_account($base, $cand, $k, label_set := $labels, stage := $stage, query_ids := $queries::varchar[],
                    base_labels := $base_labels) as a
order by list_position(['ndcg', 'recall', 'hit', 'rr'], a.metric), a.baseline_hit,
         list_position(['entered', 'up', 'down', 'left', 'same', 'outside', 'labels'], a.move)
