-- The data set of a native folder while it is read: by line, and not yet known to be right.
create or replace temp table native_queries (
    line_no bigint,
    query_id varchar,
    text varchar,
    category varchar,
    language varchar,
    split varchar,
    tags varchar[],
    groups varchar[],
    must_pass boolean,
    attributes map(varchar, varchar)
);

create or replace temp table native_labels (
    line_no bigint,
    query_id varchar,
    doc_id varchar,
    grade integer,
    no_answer boolean,
    rationale varchar,
    source varchar,
    reviewer varchar,
    reviewed date,
    collection varchar,
    evidence_group varchar,
    names_document boolean,     -- there is a doc_id, whether or not it can be taken
    names_grade boolean
);

create or replace temp table native_documents (
    line_no bigint,
    doc_id varchar,
    title varchar,
    text varchar,
    groups varchar[]
);
