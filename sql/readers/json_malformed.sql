-- Lines that are no JSON at all, or no object. DuckDB lets a comma pass before a closing bracket; JSON does not.
-- Such a comma may also stand inside a text, so the lines that have one are looked at again without their texts.
-- The first lines are kept as they are: they are parsed once more for a message that names the place.
insert into json_faults
select
    line_no,
    'not_json' as kind,
    null as field,
    case when row_number() over (order by line_no) <= 20 then text end as value,
    'expected a JSON object: one a line, {...}' as expected
from json_lines
where
    json_type(try_cast(text as json)) is distinct from 'OBJECT'
    or (
        regexp_matches(text, ',\s*[}\]]')
        and regexp_matches(regexp_replace(text, '"(\\.|[^"\\])*"', '""', 'g'), ',\s*[}\]]')
    );
