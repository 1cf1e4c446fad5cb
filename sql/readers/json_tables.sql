-- What is gathered while one file is read, piece by piece.
create or replace temp table json_faults (
    line_no bigint,
    kind varchar,
    field varchar,
    value varchar,
    expected varchar
);

create or replace temp table json_float_ids (number bigint);   -- ids written as 17.0, by piece

create or replace temp table json_lines (line_no bigint, text varchar);   -- of the piece at hand

create or replace temp table json_fields (
    position integer,
    name varchar,
    kind varchar,           -- as json_member_faults.sql knows it
    expected varchar,
    required boolean
);
