-- Every query in every slice it belongs to: a row per query and dimension (category, language, must_pass, and each
-- attribute), and one per tag; '(none)' where the query does not say. A dimension that no query of the set names is not
-- there, nor is an attribute with more than 50 values: its slices would be single queries.
create or replace view query_slices as
with named as (
    select query_set, query_id, unnest([
        {'dimension': 'category', 'slice': category},
        {'dimension': 'language', 'slice': language},
        {'dimension': 'must_pass', 'slice': case when must_pass then 'true' end}
    ], recursive := true)
    from queries
    union all
    select query_set, query_id, 'tag' as dimension, unnest(tags) as slice from queries
    union all
    select queries.query_set, queries.query_id, attribute.name, map_extract_value(queries.attributes, attribute.name)
    from queries
    join (select distinct query_set, unnest(map_keys(attributes)) as name from queries) as attribute
      on attribute.query_set = queries.query_set
), dimensions as (
    select query_set, dimension
    from named group by query_set, dimension
    having count(slice) > 0 and (dimension in ('category', 'language', 'tag') or count(distinct slice) <= 50)
)
select query_set, query_id, dimension,
       coalesce(slice, case dimension when 'must_pass' then 'false' else '(none)' end) as slice
from named semi join dimensions using (query_set, dimension);
