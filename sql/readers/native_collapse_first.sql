-- Of a document's places in one ranking, the first.
create or replace temp table native_results as
select * from native_results
qualify row_number() over (partition by line_no, stage, doc_id order by position) = 1;
