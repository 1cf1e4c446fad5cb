-- Every metric at every cutoff, for each stage of the run.
--
-- Reads   outcomes, labelled_ranks, ideal_dcg, rankings, queries, documents, wanted_cutoffs(k), variables run,
--         label_set, query_set, collection
-- Fills   query_metrics
--
-- A query that the run left out, or that failed, is here with zeros. A query with nothing relevant that its user may
-- read is here with NULLs, but its leaks and judged are counted. Definitions: the view metric_definitions.
insert into query_metrics by name
with ranked as (
    select *, count(*) filter (relevant) over (partition by stage, query_id order by rank) as nth_relevant
    from labelled_ranks
    where labelled_ranks.run = getvariable('run') and labelled_ranks.label_set = getvariable('label_set')
), got as (
    select stage, query_id, k,
           count(*) as labelled,
           count(*) filter (relevant) as relevant,
           min(rank) filter (relevant) as first_rank,
           sum(nth_relevant / rank) filter (relevant) as precisions,
           sum(gain / log2(rank + 1)) as dcg,
           sum((pow(2, gain) - 1) / log2(rank + 1)) as dcg_exp
    from ranked join wanted_cutoffs on rank <= k
    group by stage, query_id, k
), forbidden as (
    select rankings.stage, rankings.query_id, k, count(*) as leaks
    from rankings
    join queries on queries.query_set = getvariable('query_set') and queries.query_id = rankings.query_id
    join documents on documents.collection = getvariable('collection') and documents.doc_id = rankings.doc_id
    join wanted_cutoffs on rankings.rank <= k
    where rankings.run = getvariable('run') and not list_has_any(documents.groups, queries.groups)
    group by rankings.stage, rankings.query_id, k
)
select getvariable('run') as run, outcomes.stage, getvariable('label_set') as label_set, outcomes.query_id,
       cutoffs.k, outcomes.outcome, outcomes.abstained, outcomes.num_relevant,
       if(num_relevant > 0, coalesce(got.relevant, 0), null)::integer as found,
       (found > 0)::integer as hit,
       (found = num_relevant)::integer as complete,
       found / num_relevant as recall,
       found / cutoffs.k as precision,
       2 * found / (cutoffs.k + num_relevant) as f1,          -- 2PR / (P + R), and 0 when both are 0
       if(num_relevant > 0, coalesce(1 / got.first_rank, 0), null) as rr,
       if(num_relevant > 0, coalesce(got.precisions, 0) / num_relevant, null) as ap,
       if(num_relevant > 0, coalesce(got.dcg, 0), null) as dcg,
       if(num_relevant > 0, coalesce(got.dcg / ideal_dcg.dcg, 0), null) as ndcg,
       if(num_relevant > 0, coalesce(got.dcg_exp / ideal_dcg.dcg_exp, 0), null) as ndcg_exp,
       if(outcome = 'returned', coalesce(got.labelled, 0) / least(cutoffs.k, num_returned), null) as judged,
       if(outcome = 'returned', coalesce(forbidden.leaks, 0), 0) as leaks
from outcomes
cross join wanted_cutoffs as cutoffs
left join got on got.stage = outcomes.stage and got.query_id = outcomes.query_id and got.k = cutoffs.k
left join ideal_dcg on ideal_dcg.query_id = outcomes.query_id and ideal_dcg.k = cutoffs.k
left join forbidden on forbidden.stage = outcomes.stage and forbidden.query_id = outcomes.query_id
                   and forbidden.k = cutoffs.k
order by cutoffs.k, outcomes.stage, outcomes.query_id;
