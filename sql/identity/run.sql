-- The content of a run. $name is the run. The query set goes by its name: a run stays the same when queries are
-- added to the set.
select to_json([stage, query_id])::varchar
       || to_json(list_transform(results, lambda result: result.doc))::varchar
       || to_json(list_transform(results, lambda result: result.score))::varchar as content
from (select stage, query_id, list({'doc': doc_id, 'score': score} order by rank) as results
      from rankings where run = $name group by stage, query_id);

select to_json({'stage': stage, 'query': query_id, 'num': num_returned})::varchar as content
from ranking_lengths where run = $name;

select to_json({
    'query': query_id, 'status': status, 'latency': latency_ms, 'tokens': context_tokens, 'abstained': abstained,
    'error': error, 'answer': answer
})::varchar as content
from run_queries where run = $name;

select to_json({'query': query_id, 'name': name, 'value': value})::varchar as content
from answer_scores where run = $name;

select to_json({'setting': setting, 'value': value})::varchar as content
from run_config where run = $name;

select to_json({'stage': stage, 'position': position, 'cut': cut})::varchar as content
from run_stages where run = $name;

select to_json({
    'query_set': (select query_sets.name from query_sets where query_sets.query_set = runs.query_set),
    'collection': collection, 'created': epoch_us(created), 'baseline': baseline, 'series': series,
    'tags': list_sort(tags), 'commit': commit, 'note': note, 'ordered_by': ordered_by
})::varchar as content
from runs where run = $name;
