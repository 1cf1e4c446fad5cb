-- The share of each query's evidence that the first step of the pipeline passed on within its cut. Stages that share
-- the first position are one step: in any of them is enough. No row unless both runs record more than one step.
with first_steps as (
    select run, min(position) as position from run_stages where run in ($base, $cand)
    group by run having count(distinct position) > 1
), passed_on as (
    select r.run, r.query_id, count(distinct r.doc_id) as num
    from labelled_ranks as r
    join run_stages as s on s.run = r.run and s.stage = r.stage
    join first_steps as f on f.run = s.run and f.position = s.position
    where r.label_set = $label_set and r.relevant and r.rank <= coalesce(s.cut, r.rank)
    group by r.run, r.query_id
)
select m.query_id, coalesce(b.num, 0) / m.num_relevant as baseline, coalesce(c.num, 0) / m.num_relevant as candidate
from query_metrics as m
left join passed_on as b on b.run = $base and b.query_id = m.query_id
left join passed_on as c on c.run = $cand and c.query_id = m.query_id
where m.run = $cand and m.label_set = $label_set and m.stage = 'final' and m.k = $k and m.num_relevant > 0
  and (select count(*) from first_steps) = 2
  and ($queries::varchar[] is null or m.query_id in (select unnest($queries::varchar[])))
order by m.query_id
