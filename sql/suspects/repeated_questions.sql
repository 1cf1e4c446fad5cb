-- Relevant labels whose document has no word that the question does not have.
--
-- Reads   labels, label_sets, queries, labelled_texts(doc_id, text), variable label_set
-- Fills   repeated_questions
insert into repeated_questions
with asked as (
    select labels.query_id, labels.doc_id, labelled_texts.text as said, queries.text as question
    from labels
    join label_sets on label_sets.label_set = labels.label_set
    join queries on queries.query_set = label_sets.query_set and queries.query_id = labels.query_id
    join labelled_texts on labelled_texts.doc_id = labels.doc_id
    where labels.label_set = getvariable('label_set') and labels.grade >= label_sets.relevant_from
), worded as (
    select query_id, doc_id,
           list_filter(regexp_split_to_array(lower(nfc_normalize(left(said, 2000))), '[^\p{L}\p{N}\p{M}]+'),
                       lambda word: word <> '') as said,
           regexp_split_to_array(lower(nfc_normalize(question)), '[^\p{L}\p{N}\p{M}]+') as question
    from asked
)
select getvariable('label_set') as label_set, query_id, doc_id
from worded
where len(said) > 0 and list_has_all(question, said);
