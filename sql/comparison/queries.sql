-- The queries that count for a comparison, and how many of them were not the same for both runs. A query counts where
-- it is labelled and answerable, in this split and among these ids.
with counted as (
    select s.*,
           s.in_baseline and s.in_candidate and s.alike and s.same_evidence
               and s.baseline_status <> 'left_out' and s.candidate_status <> 'left_out' as is_common
    from shared_queries($base, $cand, label_set := $labels) as s
    left join query_metrics_uncut as m on m.run = $base and m.label_set = $labels and m.stage = $stage
                                      and m.query_id = s.query_id
    left join label_sets as l on l.label_set = $labels
    left join queries as q on q.query_set = l.query_set and q.query_id = s.query_id
    where s.labelled and coalesce(m.num_relevant > 0, true)
      and ($split = 'all' or q.split = $split)
      and ($queries::varchar[] is null or s.query_id in (select unnest($queries::varchar[])))
)
select coalesce(list(query_id order by query_id), []) as all_queries,
       coalesce(list(query_id order by query_id) filter (is_common), []) as common_queries,
       count(*) filter (in_candidate and not in_baseline) as absent_in_baseline,
       count(*) filter (in_baseline and not in_candidate) as absent_in_candidate,
       count(*) filter (in_baseline and in_candidate and not alike) as changed,
       count(*) filter (not same_evidence) as other_evidence,
       -- also what neither was asked, as the labels are of a later query set: those that only one was are absent
       count(*) filter ((in_baseline or not in_candidate) and baseline_status = 'left_out') as left_out_by_baseline,
       count(*) filter ((in_candidate or not in_baseline) and candidate_status = 'left_out') as left_out_by_candidate,
       count(*) filter (baseline_status in ('error', 'timeout')) as failed_in_baseline,
       count(*) filter (candidate_status in ('error', 'timeout')) as failed_in_candidate
from counted
