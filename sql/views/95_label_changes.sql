-- Two label sets to compare, in one row, looked up once and refused by name: where one is not there, or they are of different
-- query sets, it raises an error.
create or replace macro compared_label_sets(old_set, new_set) as table
with named as (
    select known_label_set(coalesce(old_set, 'NULL')) as old_labels, known_label_set(coalesce(new_set, 'NULL')) as new_labels
)
select named.old_labels, named.new_labels,
       case when (select count(distinct s.name) from label_sets as l join query_sets as s on s.query_set = l.query_set
                  where l.label_set in (named.old_labels, named.new_labels)) > 1
            then error('label sets ' || named.old_labels || ' and ' || named.new_labels
                       || ' are about different query sets: there is nothing to compare')
            else true end as alike
from named;

-- What changed from one label set to another for the same queries.
create or replace macro label_changes(old_set, new_set) as table
with asked as (
    from compared_label_sets(old_set, new_set)
), old as (
    select l.*, l.grade >= s.relevant_from as relevant
    from asked join labels as l on l.label_set = asked.old_labels and asked.alike
    join label_sets as s on s.label_set = l.label_set
), new as (
    select l.*, l.grade >= s.relevant_from as relevant
    from asked join labels as l on l.label_set = asked.new_labels and asked.alike
    join label_sets as s on s.label_set = l.label_set
)
select coalesce(new.query_id, old.query_id) as query_id, coalesce(new.doc_id, old.doc_id) as doc_id,
       case when old.query_id is null then 'added'
            when new.query_id is null then 'removed'
            when old.grade is distinct from new.grade then 'regraded'
            else 'details' end as change,
       old.grade as old_grade, new.grade as new_grade, old.relevant as was_relevant, new.relevant as is_relevant,
       coalesce(new.rationale, old.rationale) as rationale, old.rationale as old_rationale,
       coalesce(new.reviewer, old.reviewer) as reviewer
from old
full join new on new.query_id = old.query_id and new.doc_id is not distinct from old.doc_id
where old.query_id is null or new.query_id is null
   or (old.grade, old.rationale, old.source, old.reviewer, old.reviewed, old.collection, old.evidence_group)
      is distinct from
      (new.grade, new.rationale, new.source, new.reviewer, new.reviewed, new.collection, new.evidence_group)
union all   -- never a row: it has the names looked up, and refused, even where there is nothing to join
select null, null, null, null, null, null, null, null, null, null from asked where not asked.alike;

-- What the change did to the means of every run that has scores under both: over the queries that have an answer under both
-- only, since one that has an answer under one of them would move the mean by coming or going. A query is in the split that
-- the later labels' query set has it in.
create or replace macro label_effects(old_set, new_set, at_k, in_split := 'all', stage := 'final') as table
with asked as (
    select c.alike, known_cutoff(at_k) as cutoff, known_split(in_split) as splits, known_stage(stage) as at_stage
    from compared_label_sets(old_set, new_set) as c
), both_runs as (
    select o.run from scorings as o join scorings as n on n.run = o.run join run_stages as r on r.run = o.run
    where o.label_set = old_set and n.label_set = new_set and r.stage = stage
), placed as (
    select q.query_id, coalesce(any_value(q.split) filter (l.label_set = new_set), any_value(q.split)) as split
    from label_sets as l join queries as q on q.query_set = l.query_set
    where l.label_set in (old_set, new_set)
    group by q.query_id
), answerable as (
    select s.*
    from asked
    join query_scores_all as s on s.k = asked.cutoff and s.stage = asked.at_stage and asked.alike
    where s.label_set in (old_set, new_set) and s.k = at_k and s.stage = stage and s.num_relevant > 0
      and s.run in (select both_runs.run from both_runs)
      and (in_split = 'all' or s.query_id in (select placed.query_id from placed where placed.split = in_split))
), paired as (
    select coalesce(n.run, o.run) as run, o, n, o.query_id is not null as had, n.query_id is not null as has
    from (from answerable where label_set = old_set) as o
    full join (from answerable where label_set = new_set) as n on n.run = o.run and n.query_id = o.query_id
), averaged as (
    select p.run, means(p.o) as earlier, means(p.n) as later
    from paired as p where p.had and p.has
    group by p.run
), counted as (
    select b.run, count(*) filter (p.had and p.has) as n, count(*) filter (not p.has) as only_earlier,
           count(*) filter (not p.had) as only_later
    from both_runs as b left join paired as p on p.run = b.run
    group by b.run
), by_metric as (
    select c.run,
           unnest([
               {'metric': 'hit', 'earlier': a.earlier.hit, 'later': a.later.hit},
               {'metric': 'complete', 'earlier': a.earlier.complete, 'later': a.later.complete},
               {'metric': 'recall', 'earlier': a.earlier.recall, 'later': a.later.recall},
               {'metric': 'precision', 'earlier': a.earlier.precision, 'later': a.later.precision},
               {'metric': 'f1', 'earlier': a.earlier.f1, 'later': a.later.f1},
               {'metric': 'rr', 'earlier': a.earlier.rr, 'later': a.later.rr},
               {'metric': 'ap', 'earlier': a.earlier.ap, 'later': a.later.ap},
               {'metric': 'ndcg', 'earlier': a.earlier.ndcg, 'later': a.later.ndcg},
               {'metric': 'ndcg_exp', 'earlier': a.earlier.ndcg_exp, 'later': a.later.ndcg_exp}
           ], recursive := true),
           c.n, c.only_earlier, c.only_later
    from counted as c left join averaged as a on a.run = c.run
)
select m.run, m.metric, m.earlier, m.later, m.later - m.earlier as difference, m.n, m.only_earlier, m.only_later
from by_metric as m
union all   -- never a row, as above
select null, null, null, null, null, null, null, null
from asked where not asked.alike or asked.cutoff is null or asked.splits is null or asked.at_stage is null;
