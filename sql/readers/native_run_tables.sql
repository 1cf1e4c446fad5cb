-- One run of a native folder while it is read: by line, and not yet known to be right.
create or replace temp table native_answers (
    line_no bigint,
    query_id varchar,
    status varchar,
    latency_ms double,
    context_tokens bigint,
    abstained boolean,
    error varchar,
    answer varchar,
    has_results boolean,        -- there is the field, whether or not it can be taken
    has_stages boolean
);

-- Where in a line a list of results stands: `field` is results, or stages.NAME.
create or replace temp table native_lists (line_no bigint, position bigint, stage varchar, field varchar, type varchar);

create or replace temp table native_results (line_no bigint, stage varchar, position integer, doc_id varchar, score double);

create or replace temp table native_answer_scores (line_no bigint, name varchar, value double, shown varchar);
