-- The content of a collection, one row of JSON a document and one for the collection itself. $name is the collection.
select to_json({'id': doc_id, 'title': title, 'text': text, 'groups': list_sort(groups)})::varchar as content
from documents where collection = $name;

select to_json({
    'unit': unit, 'id_scheme': id_scheme,
    'version': if(num_documents = 0, version, null)     -- a name alone: versions are all that tells two apart
})::varchar as content
from collections where collection = $name;
