-- What came first in the final stage of one query, each result with its mark; and against a baseline (NULL: none) what
-- that had in its first k and this run has not, with both ranks.
--
-- Reads   parameters run, against, query_id, label_set, k
select mine.rank, base.rank as baseline_rank, coalesce(mine.doc_id, base.doc_id) as doc_id, documents.title, mine.score,
       case when documents.groups is not null and queries.groups is not null
                 and not list_has_any(documents.groups, queries.groups) then 'forbidden'
            when labels.grade is null then 'unlabelled'
            when labels.grade >= label_sets.relevant_from then 'relevant'
            else 'not relevant' end as mark,
       labels.grade
from (select rank, doc_id, score from rankings
      where run = $run and query_id = $query_id and stage = 'final') as mine
full join (select rank, doc_id from rankings
           where run = $against and query_id = $query_id and stage = 'final') as base on base.doc_id = mine.doc_id
join label_sets on label_sets.label_set = $label_set
left join queries on queries.query_set = label_sets.query_set and queries.query_id = $query_id
left join documents on documents.collection = label_sets.collection and documents.doc_id = coalesce(mine.doc_id, base.doc_id)
left join labels on labels.label_set = $label_set and labels.query_id = $query_id and labels.doc_id = coalesce(mine.doc_id, base.doc_id)
where mine.rank <= $k or base.rank <= $k
order by mine.rank > $k, mine.rank nulls last, base.rank;
