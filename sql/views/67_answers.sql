-- How well each run declines to answer, for all its queries and for each split: rightly where nothing answers the
-- query, wrongly where something does. The same at every cutoff, so there is none here.
create or replace view abstention as
select run, label_set, split, no_answer, correct_abstention, n as answerable, false_abstention
from run_summary
where k = (select min(cutoffs.k) from cutoffs);

-- Scores of answers beside retrieval: how each score of a run fares where the evidence in the first k was complete,
-- partial or missing, and where nothing answers the query.
create or replace macro evidence_state(scores) as
    case when scores.num_relevant = 0 then 'no_answer'
         when scores.complete = 1 then 'complete'
         when scores.hit = 1 then 'partial'
         else 'missing' end;

create or replace view answers_by_evidence as
select scores.run, scores.label_set, scores.k, answer_scores.name, evidence_state(scores) as evidence,
       count(*) as num_answers, avg(answer_scores.value) as mean, median(answer_scores.value) as median,
       min(answer_scores.value) as lowest, max(answer_scores.value) as highest
from query_scores as scores
join answer_scores on answer_scores.run = scores.run and answer_scores.query_id = scores.query_id
group by scores.run, scores.label_set, scores.k, answer_scores.name, evidence;
