-- Pairs of documents of one collection with the same words, or nearly.
--
-- Reads   documents, variables collection, and near_up_to: of a larger collection only equal texts are looked for
-- Fills   near_documents
--
-- Equal: the same text but for case, punctuation and spaces. Near: of the different words that either has, 9 in 10 are
-- in both (Jaccard). Two such sets share 3 of their rarest words: of n words, 3 of the first n - 0.9 n + 3, rarest first.
-- So only documents that share so many of those are compared. What bounds the cost: texts of fewer than 8 different words
-- are compared for equality only, a text counts to its 20,000th character, and a word that more than 50 documents have
-- among their rarest is passed over, as is an equal text that more than 50 have.
insert into near_documents
with texts as (
    select doc_id,
           trim(regexp_replace(lower(nfc_normalize(left(coalesce(nullif(trim(text), ''), title), 20000))),
                               '[^\p{L}\p{N}\p{M}]+', ' ', 'g')) as words
    from documents
    where collection = getvariable('collection') and coalesce(nullif(trim(text), ''), title) is not null
), equal as (
    select a.doc_id, b.doc_id as other_doc_id
    from (select words, list(doc_id) as doc_ids from texts where words <> '' group by words
          having count(*) between 2 and 50) as same,
         lateral (select unnest(same.doc_ids) as doc_id) as a,
         lateral (select unnest(same.doc_ids) as doc_id) as b
    where a.doc_id <> b.doc_id
), sets as (
    select doc_id, list_distinct(string_split(words, ' ')) as words
    from texts
    where (select count(*) from texts) <= getvariable('near_up_to')
), spread as (
    select doc_id, len(words) as size, unnest(words) as word from sets where len(words) >= 8
), ranked as (
    select doc_id, size, word, row_number() over (partition by doc_id order by num_documents, word) as place
    from spread join (select word, count(*) as num_documents from spread group by word) using (word)
), rarest as (
    select doc_id, size, word from ranked
    where place <= size - ceil(0.9 * size) + 3
    qualify count(*) over (partition by word) between 2 and 50
), candidates as (
    select a.doc_id, b.doc_id as other_doc_id
    from rarest as a join rarest as b on b.word = a.word and a.doc_id < b.doc_id
    where least(a.size, b.size) >= 0.9 * greatest(a.size, b.size)
    group by a.doc_id, b.doc_id
    having count(*) >= 3
), near as (
    select candidates.doc_id, candidates.other_doc_id,
           len(list_intersect(a.words, b.words)) as shared, len(a.words) + len(b.words) - shared as of_both
    from candidates
    join sets as a on a.doc_id = candidates.doc_id
    join sets as b on b.doc_id = candidates.other_doc_id
), found as (
    select doc_id, other_doc_id, 1.0::double as similarity from equal
    union all
    select unnest([doc_id, other_doc_id]), unnest([other_doc_id, doc_id]), shared / of_both from near
    where shared >= 0.9 * of_both
)
select getvariable('collection') as collection, doc_id, other_doc_id, max(similarity) as similarity
from found group by doc_id, other_doc_id;
