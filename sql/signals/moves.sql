-- What became of every document that carries gain: rank_transitions of some queries, or of all.
select t.query_id, t.move, t.baseline_hit, t.relevant
from rank_transitions($base, $cand, $k, label_set := $label_set) as t
where $queries::varchar[] is null or t.query_id in (select unnest($queries::varchar[]))
