-- What the rules ask of the queries themselves.
select query_id, must_pass, split from queries where query_set = $query_set order by query_id
