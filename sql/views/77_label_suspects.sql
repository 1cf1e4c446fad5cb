-- Labels that may be at fault, with how many verdicts hang on each: queries of a run that fail, and would not, or miss,
-- and would hit, if the label were put right; of a label that repeats its question, hits that rest on it alone.
create or replace view label_suspects_all as
with verdicts as (
    select m.run, m.label_set, m.query_id, m.hit, m.found, m.num_relevant, m.k, m.outcome, fails(m) as failing
    from query_metrics as m
    where m.stage = 'final' and m.k = suspect_cutoff()
), scored as (
    select label_set, count(*) as num_scored from scorings group by label_set
), out_of_reach as (
    -- relevant labels that no run can meet: in no run at all or, whatever runs returned, not in the collection
    select never.label_set, 'in_no_run' as kind, never.query_id, never.doc_id,
           'labelled as relevant, and returned by no run at any stage or depth' as fact
    from labels_never_returned as never
    anti join labels_without_document as absent on absent.label_set = never.label_set
                                               and absent.query_id = never.query_id and absent.doc_id = never.doc_id
    where never.relevant and never.num_cut = 0
    union all
    select absent.label_set, 'not_in_collection' as kind, absent.query_id, absent.doc_id,
           'labelled as relevant, and not in the collection' as fact
    from labels_without_document as absent
    join label_sets on label_sets.label_set = absent.label_set and absent.grade >= label_sets.relevant_from
), relevant_labels as (
    select labels.label_set, label_sets.collection, labels.query_id, labels.doc_id
    from labels join label_sets on label_sets.label_set = labels.label_set
    where labels.grade >= label_sets.relevant_from
), repeating as (
    -- the runs that bring such a document within the first k, and those that miss it
    select repeated.label_set, repeated.query_id, repeated.doc_id, ranks.rank is not null as found_it,
           case when ranks.rank is not null then verdicts.found = 1
                else verdicts.failing and verdicts.outcome = 'returned'
                     and verdicts.found >= least(verdicts.num_relevant - 1, verdicts.k) end as changes
    from repeated_questions as repeated
    join verdicts on verdicts.label_set = repeated.label_set and verdicts.query_id = repeated.query_id
    left join labelled_ranks as ranks
           on ranks.run = verdicts.run and ranks.label_set = verdicts.label_set and ranks.stage = 'final'
          and ranks.query_id = repeated.query_id and ranks.doc_id = repeated.doc_id and ranks.rank <= verdicts.k
), suspects as (
    select suspect.label_set, 'unjudged_on_top' as kind, suspect.query_id, suspect.doc_id, null as other_doc_id,
           count(*) as num_runs, count(*) as num_verdicts,
           'without a label, and the first result of ' || count(*) || ' of ' || any_value(scored.num_scored)
               || case when any_value(scored.num_scored) = 1 then ' run, which misses' else ' runs, which miss' end
               || ' the query' as fact
    from run_suspects as suspect join scored on scored.label_set = suspect.label_set
    where suspect.kind = 'unjudged_on_top'
    group by suspect.label_set, suspect.query_id, suspect.doc_id
    having count(*) >= least(2, any_value(scored.num_scored))
    union all by name
    select suspect.label_set, 'irrelevant_on_top' as kind, suspect.query_id, suspect.doc_id, null as other_doc_id,
           count(*) as num_runs, count(*) filter (verdicts.hit = 0) as num_verdicts,
           'first in each of the ' || count(*) || ' runs that returned anything, and labelled as not relevant' as fact
    from (from run_suspects where kind = 'irrelevant_on_top') as suspect
    join verdicts on verdicts.run = suspect.run and verdicts.label_set = suspect.label_set
                 and verdicts.query_id = suspect.query_id
    join (
        select label_set, query_id, count(*) filter (outcome = 'returned') as num_returning
        from verdicts semi join (from run_suspects where kind = 'irrelevant_on_top') as top using (label_set, query_id)
        group by label_set, query_id
    ) as returned on returned.label_set = suspect.label_set and returned.query_id = suspect.query_id
    group by suspect.label_set, suspect.query_id, suspect.doc_id
    having count(*) = any_value(returned.num_returning) and count(*) >= 2
    union all by name
    select beyond.label_set, beyond.kind, beyond.query_id, beyond.doc_id, null as other_doc_id, count(*) as num_runs,
           count(*) filter (ranks.rank is null and verdicts.failing and verdicts.outcome = 'returned'
                            and verdicts.found >= least(verdicts.num_relevant - 1, verdicts.k)) as num_verdicts,
           any_value(beyond.fact) as fact
    from out_of_reach as beyond
    join verdicts on verdicts.label_set = beyond.label_set and verdicts.query_id = beyond.query_id
    left join labelled_ranks as ranks
           on ranks.run = verdicts.run and ranks.label_set = verdicts.label_set and ranks.stage = 'final'
          and ranks.query_id = beyond.query_id and ranks.doc_id = beyond.doc_id and ranks.rank <= verdicts.k
    group by beyond.label_set, beyond.kind, beyond.query_id, beyond.doc_id
    union all by name
    select relevant.label_set, 'near_identical' as kind, relevant.query_id, near.other_doc_id as doc_id,
           relevant.doc_id as other_doc_id, count(suspect.run) as num_runs,
           count(suspect.run) filter (verdicts.hit = 0
                                      or verdicts.found + 1 >= least(verdicts.num_relevant, verdicts.k)) as num_verdicts,
           case when any_value(near.similarity) = 1 then 'the same words as ' else 'nearly the same words as ' end
               || relevant.doc_id || ', which is labelled as relevant; this one is not' as fact
    from relevant_labels as relevant
    join near_documents as near on near.collection = relevant.collection and near.doc_id = relevant.doc_id
    anti join relevant_labels as other on other.label_set = relevant.label_set and other.query_id = relevant.query_id
                                     and other.doc_id = near.other_doc_id
    left join run_suspects as suspect on suspect.kind = 'near_identical' and suspect.label_set = relevant.label_set
                                     and suspect.query_id = relevant.query_id and suspect.doc_id = near.other_doc_id
                                     and suspect.other_doc_id = relevant.doc_id
    left join verdicts on verdicts.run = suspect.run and verdicts.label_set = suspect.label_set
                      and verdicts.query_id = suspect.query_id
    group by relevant.label_set, relevant.query_id, near.other_doc_id, relevant.doc_id
    union all by name
    select label_set, 'repeats_question' as kind, query_id, doc_id, null as other_doc_id,
           count(*) filter (found_it) as num_runs, count(*) filter (changes) as num_verdicts,
           'labelled as relevant, though it has no word that the question does not have' as fact
    from repeating group by label_set, query_id, doc_id
)
select suspects.label_set, suspects.kind, suspects.query_id, suspects.doc_id, suspects.other_doc_id, labels.grade,
       suspects.num_runs, suspects.num_verdicts, suspects.fact
from suspects
left join labels on labels.label_set = suspects.label_set and labels.query_id = suspects.query_id
                and labels.doc_id = suspects.doc_id;

create or replace view label_suspects as
from label_suspects_all
where label_set in (select current_label_sets.label_set from current_label_sets);
