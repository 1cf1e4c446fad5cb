-- What a JSON value is, as the readers see it. JSON numbers that are not finite (NaN, 1e999) get this far in DuckDB.

create or replace temp macro json_is_number(value) as
    json_type(value) in ('BIGINT', 'UBIGINT', 'DOUBLE')
    and coalesce(isfinite(try_cast(value ->> '$' as double)), false);

-- 1.0 is 1; the digits as text, NULL where the value is no whole number.
create or replace temp macro json_whole(value) as
    case when json_type(value) in ('BIGINT', 'UBIGINT', 'DOUBLE')
         then nullif(regexp_extract(value ->> '$', '^(-?\d+)(\.0+)?$', 1), '') end;

-- An id is a text, or a whole number: 17 and "17" are the same id. NULL where the value is no id.
create or replace temp macro json_id(value) as
    case json_type(value) when 'VARCHAR' then nullif(value ->> '$', '') else json_whole(value) end;

create or replace temp macro json_id_is_float(value) as
    coalesce(json_type(value) = 'DOUBLE' and contains(value ->> '$', '.'), false);

create or replace temp macro json_text(value) as
    case when json_type(value) = 'VARCHAR' then value ->> '$' end;

create or replace temp macro json_number(value) as
    case when json_is_number(value) then cast(value ->> '$' as double) end;

create or replace temp macro json_is_texts(value) as
    json_type(value) = 'ARRAY'
    and len(list_filter(json_type(value, '$[*]'), lambda type: type <> 'VARCHAR')) = 0;

create or replace temp macro json_texts(value) as
    case when json_is_texts(value) then from_json(value, '["VARCHAR"]') end;

create or replace temp macro json_flag(value) as
    case when json_type(value) = 'BOOLEAN' then cast(value as boolean) end;

create or replace temp macro json_date(value) as
    case when json_type(value) = 'VARCHAR' and regexp_full_match(value ->> '$', '\d{4}-\d{2}-\d{2}')
         then try_cast(value ->> '$' as date) end;

-- A value as a message shows it: short, and texts without their quotes.
create or replace temp macro json_shown(value) as
    left(coalesce(json_text(value), cast(value as varchar)), 100);
