-- Of a document's places in one ranking, the best.
create or replace temp table frame_results as
select * from frame_results
qualify row_number() over (partition by stage, query_id, doc_id order by key desc, row_no) = 1;
