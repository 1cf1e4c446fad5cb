-- Labels that may be at fault
-- On which suspect labels, or missing ones, do the most verdicts hang?
select kind, query_id, doc_id, other_doc_id, num_verdicts, num_runs, fact
from label_suspects
order by num_verdicts desc, num_runs desc, kind, query_id, doc_id
limit 100
