-- The slices that a part of the queries can fall behind in: not those of queries that do not say, and must-pass queries
-- have a rule of their own.
select dimension, slice, list(query_id) as query_ids
from query_slices
where query_set = $query_set and dimension <> 'must_pass' and slice <> '(none)'
group by dimension, slice
order by dimension, slice
