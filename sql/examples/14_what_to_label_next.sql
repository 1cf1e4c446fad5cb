-- What to label next
-- Which unlabelled documents stand in the first 5 of the most runs?
select rankings.query_id, rankings.doc_id, count(*) as runs, min(rankings.rank) as best_rank
from rankings
join runs on runs.run = rankings.run
join query_sets on query_sets.query_set = runs.query_set
join current_label_sets on current_label_sets.query_set_name = query_sets.name
anti join labels on labels.label_set = current_label_sets.label_set
                and labels.query_id = rankings.query_id and labels.doc_id = rankings.doc_id
where rankings.stage = 'final' and rankings.rank <= 5
group by rankings.query_id, rankings.doc_id
order by runs desc, best_rank, rankings.query_id, rankings.doc_id
limit 100
