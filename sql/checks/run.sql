-- What a reader of the numbers should know of a run under a label set. One row (kind, num, sentence) a check that found
-- something.
--
-- Reads   outcomes, labels_seen, labelled_ranks, unlabelled_queries, run_queries, rankings, query_metrics,
--         variables run and label_set
with final_outcomes as (
    from outcomes where stage = 'final'
), left_out as (
    select count(*) as num, count(*) filter (num_relevant > 0) as answerable,
           list(left(query_id, 60) order by query_id)[1:3] as examples
    from final_outcomes where outcome = 'left_out'
), empty as (
    select count(*) as num, list(left(query_id, 60) order by query_id)[1:3] as examples
    from final_outcomes where outcome = 'empty' and num_relevant > 0       -- of a no-answer query, nothing is right
), failed as (
    select count(*) as num, list(left(query_id, 60) order by query_id)[1:3] as examples
    from final_outcomes where outcome in ('error', 'timeout')
), unlabelled as (
    select count(*) as num, list(left(query_id, 60) order by query_id)[1:3] as examples
    from unlabelled_queries semi join run_queries using (run, query_id)
    where run = getvariable('run') and label_set = getvariable('label_set')
), own_results as (
    from rankings where run = getvariable('run') and stage = 'final'
), scored_results as (
    -- without those of queries that failed, which are not looked up in the labels
    from own_results semi join (from final_outcomes where outcome = 'returned') as returned using (query_id)
), itself as (
    select count(*) as num, list(left(query_id, 60) order by query_id)[1:3] as examples
    from own_results where doc_id = query_id
), unmatched as (
    -- results that would match a label if both were written in composed Unicode
    select count(*) as num, list(left(own_results.doc_id, 60) order by own_results.query_id, own_results.rank)[1:3] as examples
    from own_results
    join labels_seen on labels_seen.query_id = own_results.query_id
                    and nfc_normalize(labels_seen.doc_id) = nfc_normalize(own_results.doc_id)
                    and labels_seen.doc_id <> own_results.doc_id
), common as (
    select count(*) as num from labelled_ranks
    where run = getvariable('run') and label_set = getvariable('label_set') and stage = 'final'
), wholly_found as (
    -- the smallest cutoff that holds every relevant document of every query; one or two documents are no sign
    select min(k) as k
    from (select k, bool_and(complete = 1) as all_found, sum(num_relevant) as num_relevant
          from query_metrics
          where run = getvariable('run') and label_set = getvariable('label_set') and stage = 'final' group by k)
    where all_found and num_relevant > 2 and k <= 20
)
select 'query_missing_from_run' as kind, num,
       num || if(num = 1, ' labelled query is not in the run', ' labelled queries are not in the run')
       || case when answerable = num then if(num = 1, ', and counts as 0', ', and count as 0')
               when answerable = 0 then if(num = 1, '; nothing answers it', '; nothing answers them')
               else ', of which ' || answerable || if(answerable = 1, ' has an answer and counts as 0', ' have an answer and count as 0') end
       || ' (' || array_to_string(examples, ', ') || if(num > 3, ', ...)', ')') as sentence
from left_out where num > 0
union all
select 'query_not_in_labels', num,
       num || if(num = 1, ' query of the run has', ' queries of the run have') || ' no labels: kept, and outside every mean ('
       || array_to_string(examples, ', ') || if(num > 3, ', ...)', ')')
from unlabelled where num > 0
union all
select 'empty_result_list', num,
       num || if(num = 1, ' query returned nothing, and counts as 0 (', ' queries returned nothing, and count as 0 (')
       || array_to_string(examples, ', ') || if(num > 3, ', ...)', ')')
from empty where num > 0
union all
select 'query_failed', num,
       num || if(num = 1, ' query', ' queries') || ' failed or timed out: partial results are kept and not scored ('
       || array_to_string(examples, ', ') || if(num > 3, ', ...)', ')')
from failed where num > 0
union all
select 'self_match', num,
       num || if(num = 1, ' result has', ' results have') || ' the id of its query: scored like any other ('
       || array_to_string(examples, ', ') || if(num > 3, ', ...)', ')')
from itself where num > 0
union all
select 'id_normalisation', num,
       num || if(num = 1, ' result differs', ' results differ')
       || ' from a labelled document only in Unicode form (composed or decomposed letters), and so did not match: '
       || 'write both the same way, e.g. in NFC ('
       || array_to_string(examples, ', ') || if(num > 3, ', ...)', ')')
from unmatched where num > 0
union all
select 'no_common_documents', 1,
       'no labelled document of any query is in the run; ids look like "'
       || coalesce((select left(any_value(doc_id), 60) from (from scored_results order by query_id, rank limit 1)), '') || '" in the run and "'
       || coalesce((select left(any_value(doc_id), 60) from (from labels_seen order by query_id, doc_id limit 1)), '') || '" in the labels'
from common where num = 0 and exists (from scored_results) and exists (from labels_seen)
union all
select 'pooled_from_run', 1,
       'every relevant document of the labels stands in the first ' || k || ' of this run: if the labels were pooled from '
       || 'its results, its scores say little, and other runs look worse than they are'
from wholly_found where k is not null;
