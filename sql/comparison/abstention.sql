-- How many queries both runs declined to answer (or returned nothing for), of those that have an answer and of those that
-- nothing answers, in this split and among these ids.
select m.num_relevant > 0 as answerable,
       count(*) filter (m.run = $base and m.abstained) as by_baseline,
       count(*) filter (m.run = $cand and m.abstained) as by_candidate,
       count(*) filter (m.run = $cand) as queries
from query_metrics_uncut as m
join label_sets as l on l.label_set = m.label_set
left join queries as q on q.query_set = l.query_set and q.query_id = m.query_id
where m.run in ($base, $cand) and m.label_set = $labels and m.stage = 'final'
  and ($split = 'all' or q.split = $split)
  and ($queries::varchar[] is null or list_contains($queries::varchar[], m.query_id))
group by answerable
having by_baseline <> by_candidate
order by answerable desc;
