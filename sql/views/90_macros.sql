-- Means over slices and over chosen queries. Asked for what is not there, each raises an error, as in 85_two_runs.

-- The labels that a run is read under: those asked for, or else the current ones of its query set.
create or replace macro labels_for(run_name, wanted) as
    coalesce(known_label_set(wanted), (
        select any_value(current_label_sets.label_set)
        from runs
        join query_sets on query_sets.query_set = runs.query_set
        join current_label_sets on current_label_sets.query_set_name = query_sets.name
        where runs.run = run_name));

create or replace macro known_scores(run_name, wanted_labels, wanted_stage) as
    case when exists (select 1 from scorings
                      where scorings.run = run_name and scorings.label_set = labels_for(known_run(run_name), wanted_labels))
              and exists (select 1 from run_stages where run_stages.run = run_name and run_stages.stage = wanted_stage)
         then run_name
         else error('run ' || coalesce(run_name, 'NULL') || ' has no scores at stage ' || coalesce(wanted_stage, 'NULL')
                    || ' under label set ' || coalesce(labels_for(run_name, wanted_labels), '(none)')) end;

-- The dimension that queries are sliced by, if any query has it.
create or replace macro known_dimension(wanted) as
    case when wanted is null or exists (select 1 from query_slices where query_slices.dimension = wanted) then wanted
         else error('there is nothing to slice by under the name ' || wanted || ': there are '
                    || coalesce((select string_agg(distinct query_slices.dimension, ', ' order by query_slices.dimension)
                                 from query_slices), 'no queries')) end;

create or replace macro known_split(wanted) as
    case when wanted = 'all' or exists (select 1 from queries where queries.split = wanted) then wanted
         else error('no query is in a split named ' || coalesce(wanted, 'NULL') || ': there are '
                    || coalesce((select string_agg(distinct queries.split, ', ' order by queries.split) || ', all'
                                 from queries), 'none but all')) end;

create or replace macro known_stage(wanted) as
    case when wanted = 'final' or exists (select 1 from run_stages where run_stages.stage = wanted) then wanted
         else error('no run has a stage named ' || coalesce(wanted, 'NULL') || ': there are '
                    || coalesce((select string_agg(distinct run_stages.stage, ', ' order by run_stages.stage)
                                 from run_stages), 'no runs')) end;

-- The means of every run in the slices of one to three dimensions together, such as category x language; of some
-- queries only, if their ids are given.
create or replace macro slices_by(first_by, at_k, second_by := null, third_by := null, in_split := 'all',
                                  label_set := null, stage := 'final', query_ids := null) as table
with asked as (
    select known_cutoff(at_k) as cutoff, known_dimension(coalesce(first_by, 'NULL')) as by_1,
           known_dimension(second_by) as by_2, known_dimension(third_by) as by_3, known_split(in_split) as splits,
           known_label_set(label_set) as labels, known_stage(stage) as at_stage
), chosen as (
    select distinct unnest(query_ids) as query_id
    union all
    select distinct labels.query_id from labels where query_ids is null
)
select m.run, m.label_set, m.k, s1.slice as slice_1, s2.slice as slice_2, s3.slice as slice_3, unnest(means(m))
from asked
join query_metrics as m on m.k = asked.cutoff and m.stage = asked.at_stage
join chosen on chosen.query_id = m.query_id
join label_sets as l on l.label_set = m.label_set
join queries as q on q.query_set = l.query_set and q.query_id = m.query_id
join query_slices as s1 on s1.query_set = l.query_set and s1.query_id = m.query_id and s1.dimension = asked.by_1
left join query_slices as s2 on s2.query_set = l.query_set and s2.query_id = m.query_id and s2.dimension = asked.by_2
left join query_slices as s3 on s3.query_set = l.query_set and s3.query_id = m.query_id and s3.dimension = asked.by_3
where (asked.splits = 'all' or q.split = asked.splits)
  and (asked.by_2 is null or s2.slice is not null) and (asked.by_3 is null or s3.slice is not null)   -- a query without tags
  and (m.label_set = asked.labels
       or asked.labels is null and m.label_set in (select current_label_sets.label_set from current_label_sets))
group by m.run, m.label_set, m.k, s1.slice, s2.slice, s3.slice
union all by name   -- never a row: it has the names looked up, and refused, even where there is nothing to join
select null as run from asked
where concat(asked.cutoff, asked.by_1, asked.by_2, asked.by_3, asked.splits, asked.labels, asked.at_stage) is null;

-- The means of every run over some queries only: those whose ids are given. What run_summary says of a split, for any
-- choice of queries; at every cutoff unless one is named.
create or replace macro means_of(query_ids, at_k := null, label_set := null, stage := 'final') as table
with asked as (
    select case when at_k is not null then known_cutoff(at_k) end as cutoff, known_label_set(label_set) as labels,
           known_stage(stage) as at_stage
), chosen as (
    select distinct unnest(query_ids) as query_id
), unlabelled as (
    select u.run, u.label_set, count(*) as num
    from unlabelled_queries as u join chosen on chosen.query_id = u.query_id
    group by u.run, u.label_set
), found as (
    select m.run, m.stage, m.label_set, m.k, unnest(means(m))
    from asked
    join query_metrics as m on m.stage = asked.at_stage
    join chosen on chosen.query_id = m.query_id
    where m.k in (select cutoffs.k from cutoffs, asked where cutoffs.k = coalesce(asked.cutoff, cutoffs.k))
      and (m.label_set = asked.labels
           or asked.labels is null and m.label_set in (select current_label_sets.label_set from current_label_sets))
    group by m.run, m.stage, m.label_set, m.k
)
select f.*, coalesce(u.num, 0) as unlabelled
from found as f
left join unlabelled as u on u.run = f.run and u.label_set = f.label_set
union all by name   -- never a row, as above
select null as run from asked where concat(asked.cutoff, asked.labels, asked.at_stage) is null;

-- Latency and context size of every run over some queries only: what run_costs says of a split.
create or replace macro costs_of(query_ids) as table
select r.run, unnest(costs(r))
from run_queries as r
where r.query_id in (select unnest(query_ids)) and (r.latency_ms is not null or r.context_tokens is not null)
group by r.run;
