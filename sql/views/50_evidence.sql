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

-- How many relevant documents each position of the pipeline holds, and how many it passes on within its cut; for
-- the final stage, at every cutoff. Stages that share a position are one step: in any of them is enough.
create or replace view stage_funnel as
with steps as (
    select run, label_set, query_id, doc_id, position,
           string_agg(stage, ' + ' order by stage) as stage,
           bool_or(stage = 'final') as is_final,
           min(rank) as rank,
           bool_or(rank <= coalesce(cut, rank)) as passed_on
    from evidence_ranks group by run, label_set, query_id, doc_id, position
)
select steps.run, steps.label_set, cutoffs.k, steps.position, steps.stage,
       count(*) as num_relevant,
       count(steps.rank) as present,
       count(*) filter (case when steps.is_final then steps.rank <= cutoffs.k else steps.passed_on end) as passed_on
from steps cross join cutoffs
group by steps.run, steps.label_set, cutoffs.k, steps.position, steps.stage;
