-- What people noted
-- Which notes are there, what holds now, and who takes care of it?
select query_id, run, doc_id, state, cause, note, owner, who, annotated_at, num_changes
from notes
order by annotated_at desc
