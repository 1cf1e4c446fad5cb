-- The content of a query set, one row of JSON a query. $name is the query set.
select to_json({
    'id': query_id, 'text': text, 'category': category, 'language': language, 'split': split,
    'tags': list_sort(tags), 'groups': list_sort(groups), 'must_pass': must_pass,
    'attributes': list_sort(map_entries(attributes))
})::varchar as content
from queries where query_set = $name;
