-- The scores of a workspace in which each run stands as a query, as rows of query_scores of those runs.
--
-- Reads   parameter query: the query that they are about
select query_id as run, $query as query_id, columns(* exclude (run, query_id))
from query_metrics;
