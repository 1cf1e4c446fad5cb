-- Members that the file's fields (json_fields) do not admit. null says the same as leaving the member out.
-- Where the fields have a row named '*', members of any other name are admitted, too.
insert into json_faults

select member.line_no, 'unknown_field', member.field, json_shown(member.value),
    'the fields known here are ' || (select string_agg(name, ', ' order by position) from json_fields)
from json_members as member
where
    member.field not in (select name from json_fields)
    and '*' not in (select name from json_fields)

union all

select line_no, 'repeated_field', field, null, 'this field stands ' || count(*) || ' times in one object'
from json_members
group by line_no, field
having count(*) > 1

union all

select line.line_no, 'missing_field', field.name, null, 'this field is missing: expected ' || field.expected
from (select distinct line_no from json_lines where line_no not in (select line_no from json_faults)) as line
    cross join (from json_fields where required) as field
    anti join (from json_members where type <> 'NULL') as member
        on member.line_no = line.line_no and member.field = field.name

union all

select
    member.line_no,
    case when field.kind <> 'grade' then 'wrong_value'
         when json_whole(member.value) is null then 'non_integer_grade'
         else 'grade_out_of_range' end,
    member.field,
    json_shown(member.value),
    'expected ' || field.expected
from json_members as member
    join json_fields as field on field.name = member.field
where
    member.type <> 'NULL'
    and not coalesce(
        case field.kind
            when 'id' then json_id(member.value) is not null
            when 'text' then member.type = 'VARCHAR'
            when 'texts' then json_is_texts(member.value)
            when 'some_texts' then json_is_texts(member.value) and json_array_length(member.value) > 0
            when 'flag' then member.type = 'BOOLEAN'
            when 'date' then json_date(member.value) is not null
            when 'grade' then abs(try_cast(json_whole(member.value) as integer)) <= 30
            when 'count' then try_cast(json_whole(member.value) as bigint) >= 0
            when 'amount' then json_number(member.value) >= 0
            when 'status' then json_text(member.value) in ('ok', 'error', 'timeout')
            when 'list' then member.type = 'ARRAY'
            when 'object' then member.type = 'OBJECT'
        end,
        false
    )

union all

-- NaN and 1e999 in a field that is free to hold anything
select member.line_no, 'wrong_value', member.field, json_shown(member.value), 'expected a finite number'
from json_members as member
    anti join json_fields as field on field.name = member.field
where
    member.type = 'DOUBLE'
    and not json_is_number(member.value)
    and '*' in (select name from json_fields);
