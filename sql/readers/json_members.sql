-- The members of each line's object: what every check and every column is taken from.
create or replace temp table json_members as
select lines.line_no, member.id as position, member.key as field, member.value, member.type
from json_lines as lines, json_each(try_cast(lines.text as json)) as member
where lines.line_no not in (select line_no from json_faults);

insert into json_float_ids
select count(*)
from json_members
where field in ('query_id', 'doc_id') and json_id_is_float(value) and json_id(value) is not null;
