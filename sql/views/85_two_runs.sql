-- Comparing two runs, query by query. Parameters have names that no column has, since a parameter would silently
-- take its column's place. Asked for a run, a cutoff, a label set or a stage that is not there, each raises an error.
create or replace macro known_run(run_name) as
    case when exists (select 1 from runs where runs.run = run_name) then run_name
         else error('there is no run named ' || coalesce(run_name, 'NULL') || ' in this store') end;

create or replace macro known_cutoff(at_k) as
    case when exists (select 1 from cutoffs where cutoffs.k = at_k) then at_k
         else error('k = ' || coalesce(at_k::varchar, 'NULL') || ' is not among the cutoffs of this store: '
                    || coalesce((select string_agg(cutoffs.k::varchar, ', ' order by cutoffs.k) from cutoffs), 'none')) end;

create or replace macro known_label_set(wanted) as
    case when wanted is null or exists (select 1 from label_sets where label_sets.label_set = wanted) then wanted
         else error('there is no label set named ' || wanted || ' in this store') end;

-- What is compared, in one row: the runs, the labels of each, the cutoff and the stage, looked up once and refused by name.
create or replace macro compared_runs(base, cand, at_k, label_set := null, stage := 'final', base_labels := null) as table
with named as (
    select known_run(base) as base_run, known_run(cand) as cand_run, known_cutoff(at_k) as cutoff, stage as at_stage,
           known_label_set(label_set) as wanted, known_label_set(base_labels) as own
), labelled as (
    select named.base_run, named.cand_run, named.cutoff, named.at_stage,
           coalesce(named.wanted, current_labels.label_set) as labels,
           coalesce(named.own, named.wanted, current_labels.label_set) as labels_of_base
    from named
    left join (
        select runs.run, current_label_sets.label_set
        from runs
        join query_sets on query_sets.query_set = runs.query_set
        join current_label_sets on current_label_sets.query_set_name = query_sets.name
    ) as current_labels on current_labels.run = named.base_run
), scored as (
    select scorings.run, scorings.label_set, run_stages.stage
    from scorings join run_stages on run_stages.run = scorings.run
)
select case when b.run is not null then l.base_run
            else error('run ' || l.base_run || ' has no scores at stage ' || coalesce(l.at_stage, 'NULL')
                       || ' under label set ' || coalesce(l.labels_of_base, '(none)')) end as base_run,
       case when c.run is not null then l.cand_run
            else error('run ' || l.cand_run || ' has no scores at stage ' || coalesce(l.at_stage, 'NULL')
                       || ' under label set ' || coalesce(l.labels, '(none)')) end as cand_run,
       l.labels, l.labels_of_base, l.cutoff, l.at_stage
from labelled as l
left join scored as b on b.run = l.base_run and b.label_set = l.labels_of_base and b.stage = l.at_stage
left join scored as c on c.run = l.cand_run and c.label_set = l.labels and c.stage = l.at_stage;

-- One row per query and metric that both runs have under one label set; or the baseline under labels of its own.
-- (What is asked for stands in the conditions as it is, not by a join with what was looked up: so only the rows of the two
-- runs are read.)
create or replace macro query_deltas(base, cand, at_k, label_set := null, stage := 'final', base_labels := null) as table
with asked as (
    from compared_runs(base, cand, at_k, label_set := label_set, stage := stage, base_labels := base_labels)
), both_runs as (
    select b.query_id,
           unnest([
               {'metric': 'hit', 'baseline': b.hit::double, 'candidate': c.hit::double},
               {'metric': 'complete', 'baseline': b.complete::double, 'candidate': c.complete::double},
               {'metric': 'recall', 'baseline': b.recall, 'candidate': c.recall},
               {'metric': 'precision', 'baseline': b.precision, 'candidate': c.precision},
               {'metric': 'f1', 'baseline': b.f1, 'candidate': c.f1},
               {'metric': 'rr', 'baseline': b.rr, 'candidate': c.rr},
               {'metric': 'ap', 'baseline': b.ap, 'candidate': c.ap},
               {'metric': 'ndcg', 'baseline': b.ndcg, 'candidate': c.ndcg},
               {'metric': 'ndcg_exp', 'baseline': b.ndcg_exp, 'candidate': c.ndcg_exp}
           ], recursive := true)
    from query_metrics as b
    join query_metrics as c on c.query_id = b.query_id
    where b.run = base and b.label_set = (select asked.labels_of_base from asked) and b.k = at_k and b.stage = stage
      and c.run = cand and c.label_set = (select asked.labels from asked) and c.k = at_k and c.stage = stage
      and b.num_relevant > 0 and c.num_relevant > 0
)
select both_runs.query_id, both_runs.metric, both_runs.baseline, both_runs.candidate,
       both_runs.candidate - both_runs.baseline as difference
from both_runs
union all   -- never a row: it has the names looked up, and refused, even where there is nothing to join
select null, null, null, null, null from asked where asked.base_run is null or asked.cand_run is null or asked.cutoff is null;

-- The means of two runs over the queries that both have under one label set.
create or replace macro run_comparison(base, cand, at_k, label_set := null, stage := 'final') as table
select d.metric, avg(d.baseline) as baseline, avg(d.candidate) as candidate, avg(d.difference) as difference,
       count(*) filter (d.difference > 1e-12) as wins,
       count(*) filter (abs(d.difference) <= 1e-12) as ties,
       count(*) filter (d.difference < -1e-12) as losses,
       count(*) as n
from query_deltas(base, cand, at_k, label_set := label_set, stage := stage) as d
group by d.metric;

-- What became of every document that carries gain and that the query's user may read: one row each. The shares add
-- up to the change of the query's NDCG at k.
create or replace macro rank_transitions(base, cand, at_k, label_set := null, stage := 'final') as table
with asked as (
    from compared_runs(base, cand, at_k, label_set := label_set, stage := stage)
), gains as (
    select l.query_id, l.doc_id, l.grade, l.grade >= s.relevant_from as relevant,
           row_number() over (partition by l.query_id order by l.grade desc) as ideal_rank
    from labels as l
    join label_sets as s on s.label_set = l.label_set
    left join queries as q on q.query_set = s.query_set and q.query_id = l.query_id
    left join documents as d on d.collection = s.collection and d.doc_id = l.doc_id
    where l.label_set = (select asked.labels from asked)
      and l.grade > 0 and (d.groups is null or q.groups is null or list_has_any(d.groups, q.groups))
), ranks as (
    select r.run, r.query_id, r.doc_id, r.rank
    from labelled_ranks as r
    where r.run in (base, cand) and r.label_set = (select asked.labels from asked) and r.stage = stage
), ideals as (
    select g.query_id, sum(g.grade / log2(g.ideal_rank + 1)) filter (g.ideal_rank <= at_k) as dcg
    from gains as g group by g.query_id
), placed as (
    select g.query_id, g.doc_id, g.grade, g.relevant, br.rank as baseline_rank, cr.rank as candidate_rank,
           coalesce(br.rank <= at_k, false) as was_in, coalesce(cr.rank <= at_k, false) as is_in,
           bm.hit = 1 as baseline_hit,
           g.grade / i.dcg * (case when is_in then 1 / log2(cr.rank + 1) else 0 end
                              - case when was_in then 1 / log2(br.rank + 1) else 0 end) as ndcg_share
    from query_metrics as bm
    join gains as g on g.query_id = bm.query_id
    join ideals as i on i.query_id = g.query_id
    left join ranks as br on br.run = base and br.query_id = g.query_id and br.doc_id = g.doc_id
    left join ranks as cr on cr.run = cand and cr.query_id = g.query_id and cr.doc_id = g.doc_id
    where bm.run = base and bm.label_set = (select asked.labels from asked) and bm.k = at_k and bm.stage = stage
      and bm.num_relevant > 0
)
select p.query_id, p.doc_id, p.grade, p.relevant, p.baseline_rank, p.candidate_rank,
       case when p.is_in and not p.was_in then 'entered'
            when p.was_in and not p.is_in then 'left'
            when not p.was_in then 'outside'
            when p.candidate_rank < p.baseline_rank then 'up'
            when p.candidate_rank > p.baseline_rank then 'down'
            else 'same' end as move,
       p.baseline_hit, p.ndcg_share
from placed as p
union all   -- never a row, as above
select null, null, null, null, null, null, null, null, null
from asked where asked.base_run is null or asked.cand_run is null or asked.cutoff is null;

-- The settings in which two runs differ; NULL where a run does not name the setting.
create or replace macro config_diff(base, cand) as table
with asked as (select known_run(base) as base_run, known_run(cand) as cand_run)
select coalesce(b.setting, c.setting) as setting, b.value as baseline, c.value as candidate
from (select run_config.setting, run_config.value from run_config join asked on run_config.run = asked.base_run) as b
full join (select run_config.setting, run_config.value from run_config join asked on run_config.run = asked.cand_run) as c
       on c.setting = b.setting
where b.value is distinct from c.value;
