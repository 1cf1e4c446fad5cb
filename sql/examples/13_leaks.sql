-- Shown to the wrong people
-- Which documents were in the first 5 for a user who may not read them?
select rankings.run, rankings.query_id, rankings.rank, rankings.doc_id, documents.groups as readable_by,
       queries.groups as asked_by
from rankings
join runs on runs.run = rankings.run
join queries on queries.query_set = runs.query_set and queries.query_id = rankings.query_id
join documents on documents.collection = runs.collection and documents.doc_id = rankings.doc_id
where rankings.stage = 'final' and rankings.rank <= 5
  and documents.groups is not null and queries.groups is not null
  and not list_has_any(documents.groups, queries.groups)
order by rankings.run, rankings.query_id, rankings.rank
