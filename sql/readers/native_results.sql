-- The lists of results in the lines at hand, each with its stage. `field` says where in the line it stands.
create or replace temp table native_lists_at_hand as
select line_no, position, 'final' as stage, 'results' as field, value, type
from json_members
where field = 'results' and type = 'ARRAY'
union all
select members.line_no, members.position + stage.id, stage.key, 'stages.' || stage.key, stage.value, stage.type
from json_members as members, json_each(members.value) as stage
where members.field = 'stages' and members.type = 'OBJECT' and stage.type <> 'NULL';

insert into native_lists
select line_no, position, stage, field, type from native_lists_at_hand;

-- As rows. A result is an object with doc_id and score (whatever else it holds is left aside), or an id.
create or replace temp table native_results_at_hand as
with items as (
    select
        line_no, stage, field,
        unnest(json_extract(value, '$[*]')) as item,
        unnest(range(1, cast(json_array_length(value) as bigint) + 1)) as position
    from native_lists_at_hand
    where type = 'ARRAY'
),
taken as (
    select
        line_no, stage, field, position,
        case when json_type(item) = 'OBJECT' then json_extract(item, '$.doc_id') else item end as doc,
        case when json_type(item) = 'OBJECT' then json_extract(item, '$.score') end as score,
        case when json_type(item) = 'OBJECT' then json_keys(item) end as names
    from items
),
typed as (
    select
        *,
        json_id(doc) as doc_id,
        json_number(score) as number,
        coalesce(json_type(score), 'NULL') <> 'NULL' and number is null as wrong_score
    from taken
)
select
    line_no, stage, position, doc_id, number as score, json_type(score) as score_type,
    doc_id is not null and json_id_is_float(doc) as is_float,
    case when doc_id is null or wrong_score then field || '[' || (position - 1) || ']' end as wrong_field,
    case when doc_id is null then coalesce(json_shown(doc), 'nothing')
         when wrong_score then json_shown(score) end as shown,
    case when len(names) > len(list_distinct(names)) then field || '[' || (position - 1) || ']' end as repeating_field
from typed;

insert into json_faults
select
    line_no,
    case when doc_id is null then 'wrong_value'
         when score_type in ('BIGINT', 'UBIGINT', 'DOUBLE') then 'non_finite_score'
         else 'non_numeric_score' end,
    case when doc_id is null then wrong_field else wrong_field || '.score' end,
    shown,
    case when doc_id is null
         then 'expected a result: {"doc_id": ..., "score": ...}, or an id (a text that is not empty, a whole number)'
         else 'expected a finite number' end
from native_results_at_hand
where wrong_field is not null
union all
select line_no, 'repeated_field', repeating_field, null, 'a field stands twice in this object'
from native_results_at_hand
where repeating_field is not null;

insert into json_float_ids
select count(*) from native_results_at_hand where is_float;

insert into native_results
select line_no, stage, position, doc_id, score
from native_results_at_hand
where doc_id is not null;
