-- Results whose document was not given, where the documents of the collection were given at all.
select count(*)
from frame_results
where doc_id not in (select doc_id from frame_documents) and exists (from frame_documents);
