-- One query as the run's query set has it, and what the run reported of it.
--
-- Reads   parameters run, query_id, label_set
select $query_id as query_id, queries.text, queries.category, queries.language, queries.split, queries.tags,
       queries.groups, coalesce(queries.must_pass, false) as must_pass, queries.attributes,
       queries.query_id is not null as in_query_set,
       exists (from labels where labels.label_set = $label_set and labels.query_id = $query_id) as labelled,
       coalesce(run_queries.status, 'left_out') as status, run_queries.latency_ms, run_queries.context_tokens,
       run_queries.abstained, run_queries.error, run_queries.answer,
       (select map_from_entries(list((answer_scores.name, answer_scores.value) order by answer_scores.name))
        from answer_scores where answer_scores.run = $run and answer_scores.query_id = $query_id) as answer_scores
from label_sets
left join queries on queries.query_set = label_sets.query_set and queries.query_id = $query_id
left join run_queries on run_queries.run = $run and run_queries.query_id = $query_id
where label_sets.label_set = $label_set;
