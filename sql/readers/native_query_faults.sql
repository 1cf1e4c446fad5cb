-- What is wrong between the lines of queries.jsonl.
insert into json_faults
select line_no, 'repeated_query', 'query_id', query_id, 'this query stands on line ' || first_line || ' already'
from (
    select line_no, query_id, min(line_no) over (partition by query_id) as first_line
    from native_queries
    where query_id is not null
)
where line_no > first_line;

-- Names that mean something else among the slices: all queries, and the list of tags.
insert into json_faults
select line_no, 'reserved_name', 'split', split, 'expected another name: all stands for the queries of every split'
from native_queries
where split = 'all'
union all
select line_no, 'reserved_name', name, null,
    case name when 'all' then 'expected another name for this attribute: all stands for every query'
              else 'expected another name for this attribute: tag stands for each of the tags' end
from (select line_no, unnest(map_keys(attributes)) as name from native_queries)
where name in ('all', 'tag');
