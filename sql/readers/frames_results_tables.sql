-- The results of a run given from Python: one row a result, whatever shape they came in.
create or replace temp table frame_results (
    row_no bigint,              -- of the frame, or of the query in a dict
    stage varchar,
    query_id varchar,
    doc_id varchar,
    key double,                 -- rankings are ordered by it, descending
    score double,
    rank double
);

-- The queries of results that were given query by query: also those for which nothing came back.
create or replace temp table frame_queries (query_id varchar);
