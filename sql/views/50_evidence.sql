-- Every relevant document of every scored query of a run, with its rank at each stage (NULL: it is not there) and
-- whether the stage passed it on: it stands within the stage's own cut. NULL at the stages that decide at the cutoff.
create or replace view evidence_ranks_all as
select scorings.run, scorings.label_set, labels.query_id, labels.doc_id, labels.grade, run_stages.stage,
       run_stages.position, run_stages.cut, labelled_ranks.rank
from scorings
join label_sets on label_sets.label_set = scorings.label_set
join labels on labels.label_set = scorings.label_set and labels.grade >= label_sets.relevant_from
left join queries on queries.query_set = label_sets.query_set and queries.query_id = labels.query_id
left join documents on documents.collection = label_sets.collection and documents.doc_id = labels.doc_id
join run_stages on run_stages.run = scorings.run
left join labelled_ranks on labelled_ranks.run = scorings.run and labelled_ranks.label_set = scorings.label_set
                        and labelled_ranks.stage = run_stages.stage
                        and labelled_ranks.query_id = labels.query_id and labelled_ranks.doc_id = labels.doc_id
where documents.groups is null or queries.groups is null or list_has_any(documents.groups, queries.groups);

create or replace view evidence_ranks as
from evidence_ranks_all
where label_set in (select current_label_sets.label_set from current_label_sets);

-- The same by position of the pipeline: stages that share one are one step, and in any of them is enough. passed_on is
-- within the step's own cut; at the step with the final stage it is the cutoff that decides, so there it is NULL.
create or replace view evidence_steps_all as
select run, label_set, query_id, doc_id, grade, position, string_agg(stage, ' + ' order by stage) as stage,
       bool_or(stage = 'final') as is_final, min(rank) as rank, min(rank) filter (stage = 'final') as final_rank,
       case when not is_final then coalesce(bool_or(rank <= coalesce(cut, rank)), false) end as passed_on
from evidence_ranks_all
group by run, label_set, query_id, doc_id, grade, position;

-- The way of every relevant document from step to step at every cutoff: whether the step before had passed it on (the
-- first step is handed all there is) and whether this one does.
create or replace view evidence_ways_all as
select *, row_number() over way = 1 as is_first, lag(passed_on, 1, true) over way as was_passed_on
from (
    select steps.run, steps.label_set, cutoffs.k, steps.query_id, steps.doc_id, steps.grade, steps.position, steps.stage,
           steps.is_final, steps.rank,
           case when steps.is_final then coalesce(steps.final_rank <= cutoffs.k, false) else steps.passed_on end
               as passed_on
    from evidence_steps_all as steps cross join cutoffs
)
window way as (partition by run, label_set, k, query_id, doc_id order by position);

-- How many relevant documents each step of the pipeline holds, and how many it passes on within its cut; for the
-- final stage, at every cutoff. What a step passes on is what the step before did, less what this one lost, and what
-- came back at this one.
-- (The macro takes the alias of rows of evidence_ways_all, as means does of scores.)
create or replace macro funnel(ways) as {
    'num_relevant': count(*),
    'present': count(ways.rank),
    'passed_on': count(*) filter (ways.passed_on),
    'lost': count(*) filter (ways.was_passed_on and not ways.passed_on),
    'came_back': count(*) filter (ways.passed_on and not ways.was_passed_on)
};

create or replace view stage_funnel_all as
select ways.run, ways.label_set, ways.k, ways.position, ways.stage, unnest(funnel(ways))
from evidence_ways_all as ways
group by ways.run, ways.label_set, ways.k, ways.position, ways.stage;

create or replace view stage_funnel as
from stage_funnel_all
where label_set in (select current_label_sets.label_set from current_label_sets);

-- Every relevant document at the steps that lost it, with how: what the counts `lost` of stage_funnel are made of.
create or replace view lost_evidence_all as
select ways.run, ways.label_set, ways.k, ways.query_id, ways.doc_id, ways.grade, ways.position, ways.stage, ways.rank,
       case when uncut.outcome = 'left_out' then 'not_run'
            when uncut.outcome in ('error', 'timeout') then 'error'
            when ways.rank is not null then 'beyond_cut'
            when cut_away.position is not null then 'not_kept'
            when ways.is_first then 'not_retrieved'
            else 'dropped' end as how
from evidence_ways_all as ways
left join query_metrics_uncut as uncut on uncut.run = ways.run and uncut.label_set = ways.label_set
                                      and uncut.stage = 'final' and uncut.query_id = ways.query_id
left join (
    -- where labels came after a run of which only the first results are kept: what is not among these may be below them
    select distinct deep.run, deep.label_set, deep.query_id, run_stages.position
    from query_metrics_uncut as deep
    join run_stages on run_stages.run = deep.run and run_stages.stage = deep.stage
    where deep.unknown_because is not null
) as cut_away on cut_away.run = ways.run and cut_away.label_set = ways.label_set
             and cut_away.query_id = ways.query_id and cut_away.position = ways.position
where ways.was_passed_on and not ways.passed_on;

create or replace view lost_evidence as
from lost_evidence_all
where label_set in (select current_label_sets.label_set from current_label_sets);
