-- Whether a query fails at its k: the first k do not hold as much of its evidence as they could, it was not answered
-- though the labels name an answer, it was answered although nothing answers it, or a document was shown that its user
-- may not read. It takes the alias of rows of query_scores, as means does.
create or replace macro fails(scores) as
    scores.leaks > 0
    or scores.outcome in ('left_out', 'error', 'timeout')
    or case when scores.num_relevant > 0
            then scores.abstained or scores.outcome = 'empty' or scores.found < least(scores.num_relevant, scores.k)
            else scores.outcome = 'returned' and not scores.abstained end;

-- The steps that a run records before its final one. Where two runs record different ones, the same ranking can have
-- another cause of failure: what is lost at a step in one was never retrieved, or is below the cutoff, in the other.
create or replace view steps_before_final as
select run, coalesce(list(step order by position) filter (step is not null), []) as steps
from (
    select final.run, earlier.position, string_agg(earlier.stage, ' + ' order by earlier.stage) as step
    from run_stages as final
    left join run_stages as earlier on earlier.run = final.run and earlier.position < final.position
    where final.stage = 'final'
    group by final.run, earlier.position
)
group by run;

-- Every failing query of every run at every cutoff, with the first cause in pipeline order, what else applies, and
-- the fact that shows it. Its rows are those that `fails` says yes to.
create or replace view failures_all as
with ways as (
    -- the way of every relevant document up to the final stage: the first step that lost what the step before had passed
    -- on, and whether it came as far as the final stage, whose cut is the cutoff
    select run, label_set, query_id, doc_id,
           min(position) filter (lost) as lost_position, arg_min(stage, position) filter (lost) as lost_stage,
           arg_min(coalesce(rank, 0), position) filter (lost) as lost_rank,   -- 0: it is not there at all
           bool_or(was_passed_on) filter (is_final) as reached_final, min(final_rank) as final_rank,
           min(position) filter (is_final) as final_position, any_value(stage) filter (is_final) as final_stage,
           count(rank) > 0 as retrieved
    from (
        select *, was_passed_on and not passed_on and position < final_position as lost
        from (
            select *, lag(passed_on) over way as was_passed_on,
                   max(case when is_final then position end) over (partition by run, label_set, query_id, doc_id)
                       as final_position
            from evidence_steps_all
            window way as (partition by run, label_set, query_id, doc_id order by position)
        )
    )
    group by run, label_set, query_id, doc_id
), missing as (
    -- the relevant documents that do not stand in the first k, and the earliest step that lost one of them
    select ways.run, ways.label_set, ways.query_id, cutoffs.k,
           list(ways.doc_id order by ways.doc_id) as doc_ids,
           bool_or(ways.retrieved) as retrieved,
           arg_min({
               'stage': coalesce(ways.lost_stage, ways.final_stage), 'doc_id': ways.doc_id,
               'rank': case when ways.lost_stage is null then ways.final_rank else nullif(ways.lost_rank, 0) end,
               'at_the_end': ways.lost_stage is null
           }, {
               'position': coalesce(ways.lost_position, ways.final_position), 'doc_id': ways.doc_id
           }) filter (ways.lost_stage is not null or ways.reached_final) as lost
    from ways cross join cutoffs
    where ways.final_rank is null or ways.final_rank > cutoffs.k
    group by ways.run, ways.label_set, ways.query_id, cutoffs.k
), forbidden as (
    -- queries with relevant documents, none of which their user may read
    select labels.label_set, labels.query_id
    from labels
    join label_sets on label_sets.label_set = labels.label_set
    where labels.grade >= label_sets.relevant_from
    group by labels.label_set, labels.query_id
), judged as (
    select scores.*, scores.found >= least(scores.num_relevant, scores.k) as as_complete_as_can_be,
           uncut.first_relevant_rank, uncut.num_returned, uncut.unknown_because,
           missing.lost, coalesce(missing.retrieved, false) as retrieved, coalesce(missing.doc_ids, []) as missing,
           forbidden.query_id is not null as has_relevant, coalesce(run_queries.error, '') as error,
           coalesce(run_queries.abstained, false) as declined,
           first_result.doc_id is not null and first_label.doc_id is null as unjudged_first
    from query_scores_all as scores
    join query_scores_uncut_all as uncut on uncut.run = scores.run and uncut.label_set = scores.label_set
                                        and uncut.stage = 'final' and uncut.query_id = scores.query_id
    left join missing on missing.run = scores.run and missing.label_set = scores.label_set
                     and missing.query_id = scores.query_id and missing.k = scores.k
    left join forbidden on forbidden.label_set = scores.label_set and forbidden.query_id = scores.query_id
    left join run_queries on run_queries.run = scores.run and run_queries.query_id = scores.query_id
    left join rankings as first_result on first_result.run = scores.run and first_result.stage = 'final'
                                      and first_result.query_id = scores.query_id and first_result.rank = 1
    left join labels as first_label on first_label.label_set = scores.label_set
                                   and first_label.query_id = scores.query_id
                                   and first_label.doc_id = first_result.doc_id
    where scores.stage = 'final' and fails(scores)
), caused as (
    select *, list_filter([
        case when outcome = 'left_out' then {'class': 'not_run', 'fact': 'the run has no line for this query'} end,
        case when outcome in ('error', 'timeout')
             then {'class': 'error', 'fact': outcome || case when error = '' then '' else ': ' || error end} end,
        case when num_relevant > 0 and abstained and declined
             then {'class': 'false_abstention', 'fact': 'it declined to answer, though the labels name an answer'} end,
        case when num_relevant > 0 and outcome = 'empty'
             then {'class': 'empty', 'fact': 'it returned nothing'} end,
        case when num_relevant > 0 and abstained and not declined
             then {'class': 'false_abstention', 'fact': 'it returned nothing, though the labels name an answer'} end,
        case when num_relevant > 0 and outcome = 'returned' and not as_complete_as_can_be and lost is not null
             then {'class': 'lost_at_' || lost.stage,
                   'fact': coalesce(lost.stage || ' has ' || lost.doc_id || ' at rank ' || lost.rank
                                        || ', beyond '
                                        || case when lost.at_the_end then 'k = ' || k else 'its own cut' end,
                                    lost.stage || ' lost ' || lost.doc_id || ', which the step before had passed on')} end,
        case when hit = 0 and outcome = 'returned' and not retrieved and unknown_because is null
             then {'class': 'never_retrieved',
                   'fact': 'no relevant document among ' || num_returned || ' results'} end,
        case when hit = 0 and outcome = 'returned'
                  and (first_relevant_rank is not null or unknown_because is not null or (retrieved and lost is null))
             then {'class': 'below_cutoff',
                   'fact': coalesce('the first relevant document stands at rank ' || first_relevant_rank,
                                    'none in the kept part; ' || unknown_because,
                                    'an early stage has a relevant document, below its own cut')} end,
        case when hit = 1 and not as_complete_as_can_be
             then {'class': 'partial_evidence',
                   'fact': found || ' of ' || num_relevant || ' relevant documents in the first ' || k} end,
        case when num_relevant = 0 and outcome = 'returned' and not abstained and has_relevant
             then {'class': 'forbidden_only', 'fact': 'answered, though its user may read none of the evidence'} end,
        case when num_relevant = 0 and outcome = 'returned' and not abstained and not has_relevant
             then {'class': 'false_answer', 'fact': 'answered, though by the labels nothing answers it'} end,
        case when leaks > 0
             then {'class': 'leak', 'fact': 'its user may not read ' || leaks || ' of the first ' || k || ' results'} end,
        case when hit = 0 and outcome = 'returned' and unjudged_first
             then {'class': 'unjudged_on_top', 'fact': 'its first result has no label'} end
    ], lambda cause: cause is not null) as causes
    from judged
)
select run, label_set, query_id, k, causes[1].class as class,
       list_transform(causes[2:], lambda cause: cause.class) as also,
       causes[1].fact as fact,
       first_relevant_rank, missing, num_relevant, found, outcome,
       -- only these depend on other stages than the final one; what comes before them in the order does not
       case when class in ('never_retrieved', 'below_cutoff') or class like 'lost\_at\_%' escape '\'
            then case when hit = 1 then 'partial_evidence'
                      when first_relevant_rank is null and unknown_because is null then 'never_retrieved'
                      else 'below_cutoff' end
            else class end as class_by_final
from caused;

create or replace view failures as
from failures_all
where label_set in (select current_label_sets.label_set from current_label_sets);
