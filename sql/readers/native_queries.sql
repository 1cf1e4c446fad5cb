-- Lines of queries.jsonl as columns. Every field without a column of its own is an attribute, as text.
insert into native_queries
with further as (
    select
        line_no,
        map(
            list(field order by field),
            list(coalesce(json_text(value), cast(value as varchar)) order by field)
        ) as attributes
    from json_members
    where
        type <> 'NULL'
        and field not in (select name from json_fields)
        and line_no not in (select line_no from json_faults)
    group by line_no
),
named as (
    select
        line_no,
        json_id(any_value(value) filter (field = 'query_id')) as query_id,
        json_text(any_value(value) filter (field = 'text')) as text,
        json_text(any_value(value) filter (field = 'category')) as category,
        json_text(any_value(value) filter (field = 'language')) as language,
        json_text(any_value(value) filter (field = 'split')) as split,
        json_texts(any_value(value) filter (field = 'tags')) as tags,
        json_texts(any_value(value) filter (field = 'groups')) as groups,
        coalesce(json_flag(any_value(value) filter (field = 'must_pass')), false) as must_pass
    from json_members
    where type <> 'NULL'
    group by line_no
)
from named left join further using (line_no);
