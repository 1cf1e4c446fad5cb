-- The metrics that look at the whole ranking, for each stage of the run.
--
-- Reads   outcomes, labelled_ranks, labels_seen, ideal_dcg, variables run, label_set, and depth: how many results a
--         query were at hand (NULL: all)
-- Fills   query_metrics_uncut
--
-- Where only the first results were at hand and what lies beyond them could change a value, that value is NULL and
-- unknown_because says why.
insert into query_metrics_uncut by name
with ranked as (
    select *, count(*) filter (relevant) over (partition by stage, query_id order by rank) as nth_relevant
    from labelled_ranks
    where labelled_ranks.run = getvariable('run') and labelled_ranks.label_set = getvariable('label_set')
), got as (
    select ranked.stage, ranked.query_id,
           min(rank) filter (relevant) as first_rank,
           sum(nth_relevant / rank) filter (relevant) as precisions,
           count(*) filter (relevant and rank <= labelled_queries.num_relevant) as within_num_relevant,
           count(*) filter (relevant) as relevant,
           count(*) filter (gain > 0) as gaining,
           sum(gain / log2(rank + 1)) as dcg
    from ranked join labelled_queries on labelled_queries.query_id = ranked.query_id
    group by ranked.stage, ranked.query_id
), gaining_labels as (
    select query_id, count(*) as num from labels_seen where gain > 0 group by query_id
), known as (
    select outcomes.*, got.* exclude (stage, query_id), ideal_dcg.dcg as ideal,
           coalesce(outcome = 'returned' and num_returned > getvariable('depth')::integer, false) as cut,
           not cut or coalesce(got.relevant, 0) = num_relevant as all_relevant,
           not cut or coalesce(got.gaining, 0) = coalesce(gaining_labels.num, 0) as all_gains,
           not cut or got.first_rank is not null or num_relevant = 0 as first,
           not cut or num_relevant <= getvariable('depth')::integer as r_deep
    from outcomes
    left join got on got.stage = outcomes.stage and got.query_id = outcomes.query_id
    left join ideal_dcg on ideal_dcg.query_id = outcomes.query_id and ideal_dcg.k is null
    left join gaining_labels on gaining_labels.query_id = outcomes.query_id
)
select getvariable('run') as run, stage, getvariable('label_set') as label_set, query_id, outcome, abstained, num_relevant,
       num_returned, first_rank as first_relevant_rank,
       if(num_relevant > 0 and known.first, coalesce(1 / first_rank, 0), null) as rr,
       if(num_relevant > 0 and all_relevant, coalesce(precisions, 0) / num_relevant, null) as ap,
       if(num_relevant > 0 and all_gains, coalesce(dcg, 0), null) as dcg,
       if(num_relevant > 0 and all_gains, coalesce(dcg / ideal, 0), null) as ndcg,
       if(num_relevant > 0 and r_deep, coalesce(within_num_relevant, 0) / num_relevant, null) as r_precision,
       if(all_relevant and all_gains and known.first and r_deep or num_relevant = 0, null,
          'only the first ' || getvariable('depth') || ' of ' || num_returned || ' results are kept') as unknown_because
from known
order by stage, query_id;
