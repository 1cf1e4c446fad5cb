-- The content of a label set, one row of JSON a label and one for the set itself. $name is the label set.
select to_json({
    'query': query_id, 'doc': doc_id, 'grade': grade, 'no_answer': no_answer, 'rationale': rationale, 'source': source,
    'reviewer': reviewer, 'reviewed': reviewed, 'collection': collection, 'evidence_group': evidence_group
})::varchar as content
from labels where label_set = $name;

select to_json({
    'query_set': query_set, 'collection': collection, 'relevant_from': relevant_from, 'reviewer': reviewer
})::varchar as content
from label_sets where label_set = $name;
