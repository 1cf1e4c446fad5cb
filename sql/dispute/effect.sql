-- The metrics of one query in every chosen run at k, and the means of all its queries: as they are, and with the rows of
-- `rescored` in the place of that query's.
--
-- Reads   rescored (rows of query_scores), parameters label_set, query, k, all_runs, runs
with chosen as (
    select run from scorings
    where label_set = $label_set and ($all_runs or list_contains($runs::varchar[], run))
), of_query as (
    select run, struct_pack(hit, complete, recall, precision, f1, rr, ap, ndcg, ndcg_exp, judged, leaks, outcome,
                            num_relevant, found, fails := fails(s)) as metrics
    from query_scores_all as s
    where stage = 'final' and label_set = $label_set and k = $k and query_id = $query
), of_rescored as (
    select run, struct_pack(hit, complete, recall, precision, f1, rr, ap, ndcg, ndcg_exp, judged, leaks, outcome,
                            num_relevant, found, fails := fails(s)) as metrics
    from rescored as s
), means_now as (
    select run, struct_pack(n, hit, complete, recall, precision, f1, rr, ap, ndcg, ndcg_exp, judged, leaks, missed) as means
    from run_summary_all
    where stage = 'final' and label_set = $label_set and k = $k and split = 'all'
), means_then as (
    select run, struct_pack(n, hit, complete, recall, precision, f1, rr, ap, ndcg, ndcg_exp, judged, leaks, missed) as means
    from (
        select s.run, unnest(means(s))
        from (
            from query_scores_all
            where stage = 'final' and label_set = $label_set and k = $k and query_id <> $query
              and run in (select run from chosen)
            union all by name
            from rescored
        ) as s
        group by s.run
    )
)
select chosen.run, of_query.metrics as before, of_rescored.metrics as after,
       means_now.means as mean_before, means_then.means as mean_after
from chosen
left join of_query on of_query.run = chosen.run
left join of_rescored on of_rescored.run = chosen.run
left join means_now on means_now.run = chosen.run
left join means_then on means_then.run = chosen.run
order by chosen.run;
