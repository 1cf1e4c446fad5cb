-- Results whose document was not given, where the documents of the collection were given at all.
select count(*)
from native_results
where
    doc_id not in (select doc_id from documents where collection = $collection)
    and exists (from documents where collection = $collection);
