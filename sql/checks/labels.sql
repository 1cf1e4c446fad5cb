-- What a reader of the numbers should know of a label set. One row (kind, num, sentence) a check that found something.
--
-- Reads   queries, labels, labelled_queries, variables label_set and query_set
with unlabelled as (
    select count(*) as num, list(left(query_id, 60) order by query_id)[1:3] as examples
    from queries anti join labelled_queries using (query_id) where queries.query_set = getvariable('query_set')
), unanswerable as (
    select count(*) as num, list(left(query_id, 60) order by query_id)[1:3] as examples
    from labelled_queries
    where num_relevant = 0
      and query_id not in (select query_id from labels where label_set = getvariable('label_set') and no_answer)
), grades as (
    select count(*) as num, min(grade) as lowest, max(grade) as highest, count(distinct query_id) as queries
    from labels where label_set = getvariable('label_set') and doc_id is not null
)
select 'query_without_judgements' as kind, num,
       num || if(num = 1, ' query has', ' queries have') || ' no label and no no-answer line: outside every mean ('
       || array_to_string(examples, ', ') || if(num > 3, ', ...)', ')') as sentence
from unlabelled where num > 0
union all
select 'no_relevant_documents', num,
       num || if(num = 1, ' labelled query has', ' labelled queries have')
       || ' no relevant document that its user may read: no-answer, outside the means of ranking metrics ('
       || array_to_string(examples, ', ') || if(num > 3, ', ...)', ')')
from unanswerable where num > 0
union all
select 'constant_labels', num,
       'all ' || num || ' labels have grade ' || lowest
       || ': an NDCG of 1 says that nothing unlabelled stands among them, not that they are good'
from grades where num > queries and lowest = highest;
