-- Evidence that the first step of the candidate passes on and that of the baseline does not, and that is not in the
-- candidate's first k: one row each, with the step that lost it.
with steps as (
    select s.run, s.stage, s.position, s.cut, min(s.position) over (partition by s.run) as first_position
    from run_stages as s where s.run in ($base, $cand)
), placed as (
    select r.run, r.query_id, r.doc_id, s.position, s.stage, s.position = s.first_position as is_first,
           r.rank <= case when s.stage = 'final' then $k else coalesce(s.cut, r.rank) end as passed_on
    from labelled_ranks as r
    join steps as s on s.run = r.run and s.stage = r.stage
    where r.label_set = $label_set and r.relevant
), came_in as (
    select distinct query_id, doc_id from placed where run = $cand and is_first and passed_on
    except
    select query_id, doc_id from placed where run = $base and is_first and passed_on
), ways as (
    select c.query_id, c.doc_id, s.position, string_agg(distinct s.stage, ' + ' order by s.stage) as step,
           coalesce(bool_or(p.passed_on), false) as passed_on
    from came_in as c
    join steps as s on s.run = $cand and s.position <= (select position from steps where run = $cand and stage = 'final')
    left join placed as p on p.run = $cand and p.stage = s.stage and p.query_id = c.query_id and p.doc_id = c.doc_id
    group by c.query_id, c.doc_id, s.position
)
select query_id, doc_id, arg_min(step, position) as lost_at
from ways
where not passed_on and ($queries::varchar[] is null or query_id in (select unnest($queries::varchar[])))
group by query_id, doc_id
order by query_id, doc_id
