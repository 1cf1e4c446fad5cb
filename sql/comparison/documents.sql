-- How many documents are not the same in two collections: only in one of them, or with another title, text or groups.
select count(*)
from (select doc_id, title, text, groups from documents where collection = $base) as b
full join (select doc_id, title, text, groups from documents where collection = $cand) as c on c.doc_id = b.doc_id
where b.doc_id is null or c.doc_id is null or (b.title, b.text, b.groups) is distinct from (c.title, c.text, c.groups)
