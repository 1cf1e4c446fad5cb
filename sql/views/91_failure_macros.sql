-- The failures of one run, or of two, counted. Asked for what is not there, each raises an error, as in 85_two_runs.

-- How many queries of a run fail for which cause: as the first, and among what else applies. In every slice of a
-- dimension if one is named, else in one slice 'all'.
create or replace macro failure_classes(run_name, at_k, sliced_by := null, in_split := 'all', label_set := null) as table
with asked as (
    select known_scores(known_run(run_name), label_set, 'final') as asked_run, known_cutoff(at_k) as cutoff,
           labels_for(run_name, label_set) as labels, known_dimension(sliced_by) as dimension, known_split(in_split) as splits
), slices as (
    select l.label_set as of_labels, s.query_id, s.slice
    from asked
    join label_sets as l on l.label_set = asked.labels
    join query_slices as s on s.query_set = l.query_set and s.dimension = asked.dimension
    union all
    select distinct asked.labels, m.query_id, 'all'
    from asked
    join query_metrics as m on m.run = run_name and m.label_set = asked.labels and m.k = at_k and m.stage = 'final'
    where asked.dimension is null
), chosen as (
    select s.query_id, s.slice
    from asked
    join slices as s on s.of_labels = asked.labels
    join label_sets as l on l.label_set = asked.labels
    left join queries as q on q.query_set = l.query_set and q.query_id = s.query_id
    where asked.splits = 'all' or q.split = asked.splits
), sizes as (
    select c.slice, count(*) as num_queries
    from asked
    join query_metrics as m on m.run = run_name and m.label_set = asked.labels and m.k = at_k and m.stage = 'final'
    join chosen as c on c.query_id = m.query_id
    group by c.slice
), causes as (
    select c.slice, unnest([{'class': f.class, 'first': true}]
                           || list_transform(f.also, lambda further: {'class': further, 'first': false})) as cause
    from asked
    join failures_all as f on f.run = run_name and f.k = at_k and f.label_set = asked.labels
    join chosen as c on c.query_id = f.query_id
)
select c.slice, c.cause.class as class, count(*) filter (c.cause.first) as num_failing,
       count(*) filter (not c.cause.first) as num_also, any_value(s.num_queries) as num_queries
from causes as c join sizes as s on s.slice = c.slice
group by c.slice, c.cause.class
union all   -- never a row: it has the names looked up, and refused, even where there is nothing to join
select null, null, null, null, null from asked
where concat(asked.asked_run, asked.cutoff, asked.dimension, asked.splits) is null;

-- What became of every query that two runs have under one label set: the class of its failure in each, or
-- 'not failing'. Grouped by both classes it is the table of which turned into which. Where the runs record different
-- steps before the final one, only what differs by the final ranking, which both record, is another cause.
create or replace macro failure_changes(base, cand, at_k, label_set := null) as table
with asked as (
    select known_scores(known_run(base), label_set, 'final') as base_run,
           known_scores(known_run(cand), coalesce(label_set, labels_for(base, null)), 'final') as cand_run,
           labels_for(base, label_set) as labels, known_cutoff(at_k) as cutoff,
           (select count(distinct s.steps) > 1 from steps_before_final as s where s.run in (base, cand)) as by_final
), both_runs as (
    select b.query_id, b.label_set as of_labels, asked.by_final
    from asked
    join query_metrics as b on b.run = base and b.label_set = asked.labels and b.k = at_k and b.stage = 'final'
    join query_metrics as c on c.run = cand and c.label_set = asked.labels and c.k = at_k and c.stage = 'final'
                           and c.query_id = b.query_id
)
select r.query_id, coalesce(b.class, 'not failing') as baseline_class, coalesce(c.class, 'not failing') as candidate_class,
       case when b.class is null and c.class is null then 'passes'
            when b.class is null then 'broke'
            when c.class is null then 'mended'
            when b.class = c.class or r.by_final and b.class_by_final = c.class_by_final then 'same'
            else 'other cause' end as change,
       b.fact as baseline_fact, c.fact as candidate_fact
from both_runs as r
left join failures_all as b on b.run = base and b.k = at_k and b.label_set = r.of_labels and b.query_id = r.query_id
left join failures_all as c on c.run = cand and c.k = at_k and c.label_set = r.of_labels and c.query_id = r.query_id
union all   -- never a row, as above
select null, null, null, null, null, null from asked
where concat(asked.base_run, asked.cand_run, asked.cutoff) is null;

-- The funnel of one run in every slice of a dimension: what stage_funnel says of all its queries.
create or replace macro stage_funnel_by(run_name, at_k, sliced_by := null, in_split := 'all', label_set := null) as table
with asked as (
    select known_scores(known_run(run_name), label_set, 'final') as asked_run, known_cutoff(at_k) as cutoff,
           labels_for(run_name, label_set) as labels, known_dimension(sliced_by) as dimension, known_split(in_split) as splits
), ways as (
    select w.*, l.query_set
    from asked
    join evidence_ways_all as w on w.run = run_name and w.k = at_k and w.label_set = asked.labels
    join label_sets as l on l.label_set = w.label_set
)
select coalesce(s.slice, 'all') as slice, w.position, w.stage, unnest(funnel(w))
from asked
cross join ways as w
left join queries as q on q.query_set = w.query_set and q.query_id = w.query_id
left join query_slices as s on s.query_set = w.query_set and s.query_id = w.query_id and s.dimension = asked.dimension
where (asked.splits = 'all' or q.split = asked.splits) and (asked.dimension is null or s.slice is not null)
group by coalesce(s.slice, 'all'), w.position, w.stage
union all   -- never a row, as above
select null, null, null, null, null, null, null, null from asked
where concat(asked.asked_run, asked.cutoff, asked.dimension, asked.splits) is null;

-- What is noted about the queries of a run, beside whether they still fail: one row per query with a note. The note is
-- that about the query in this run; else the latest of those about the query in every run, or in another.
create or replace macro noted_queries(run_name, at_k, label_set := null) as table
with asked as (
    select known_scores(known_run(run_name), label_set, 'final') as asked_run, known_cutoff(at_k) as cutoff,
           labels_for(run_name, label_set) as labels
), this_run as (
    select r.run, r.added_at, s.name as query_set_name, asked.labels
    from asked
    join runs as r on r.run = run_name
    join query_sets as s on s.query_set = r.query_set
), held as (
    select n.*, t.labels, t.added_at > n.annotated_at as is_later
    from this_run as t
    join notes as n on n.query_set_name = t.query_set_name and n.doc_id is null
    qualify row_number() over (partition by n.query_id
                               order by n.run is not distinct from t.run desc, n.annotated_at desc, n.run) = 1
), failed_before as (
    -- in a run that was there when the note was first written
    select distinct h.query_id
    from held as h
    join query_metrics as m on m.query_id = h.query_id and m.label_set = h.labels and m.k = at_k and m.stage = 'final'
    join runs as r on r.run = m.run and r.added_at <= h.first_at
    where m.run <> run_name and fails(m)
)
select h.query_id, f.class, f.fact,
       case when f.class is not null and h.is_later and h.state = 'fixed' then 'failing_again'
            when f.class is not null and h.is_later then 'still_failing'
            when f.class is not null then 'failing'
            when b.query_id is not null and h.is_later then 'fixed_since'
            else 'not_failing' end as standing,
       h.run as about_run, h.state, h.cause, h.note, h.owner, h.who, h.first_at, h.annotated_at
from held as h
left join failures_all as f on f.run = run_name and f.k = at_k and f.label_set = h.labels and f.query_id = h.query_id
left join failed_before as b on b.query_id = h.query_id
union all   -- never a row, as above
select null, null, null, null, null, null, null, null, null, null, null, null from asked
where concat(asked.asked_run, asked.cutoff) is null;
