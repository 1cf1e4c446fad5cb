-- Every metric of the queries that are compared, by query and metric.
select d.query_id, d.metric, d.baseline, d.candidate
from query_deltas($base, $cand, $k, label_set := $labels, stage := $stage,
                  base_labels := $base_labels) as d
where $queries::varchar[] is null or d.query_id in (select unnest($queries::varchar[]))
order by d.query_id, d.metric
