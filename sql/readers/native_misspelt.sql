-- Attributes that are nearly called as a field of a query which the same queries lack, and in how many queries.
with silent as (
    select
        unnest(map_keys(attributes)) as attribute,
        list_filter(
            [
                case when text is null then 'text' end,
                case when category is null then 'category' end,
                case when language is null then 'language' end,
                case when split is null then 'split' end,
                case when tags is null then 'tags' end,
                case when groups is null then 'groups' end,
                case when not must_pass then 'must_pass' end
            ],
            lambda field: field is not null
        ) as fields
    from native_queries
),
pairs as (select attribute, unnest(fields) as field from silent)
select attribute, count(*) as queries, field
from pairs
where damerau_levenshtein(lower(replace(replace(attribute, '-', '_'), ' ', '_')), field)
    <= case when length(field) > 5 then 2 else 1 end
group by attribute, field
order by queries desc, attribute, field;
