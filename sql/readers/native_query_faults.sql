-- What is wrong between the lines of queries.jsonl.
insert into json_faults
select line_no, 'repeated_query', 'query_id', query_id, 'this query stands on line ' || first_line || ' already'
from (
    select line_no, query_id, min(line_no) over (partition by query_id) as first_line
    from native_queries
    where query_id is not null
)
where line_no > first_line;
