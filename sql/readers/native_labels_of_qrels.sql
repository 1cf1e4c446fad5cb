-- Labels in TREC form: nothing but the grade is known of them.
insert into native_labels by name
select query_id, doc_id, grade, false as no_answer
from native_qrels;
