-- The results whose document stands in the same ranking again; `place` is 1 for the best-ranked.
create or replace temp table frame_repeats as
select
    row_no, stage, query_id, doc_id,
    min(row_no) over same as first_row,
    row_number() over (partition by stage, query_id, doc_id order by key desc, row_no) as place
from frame_results
    semi join (
        select stage, query_id, doc_id
        from frame_results
        where query_id <> '' and doc_id <> ''
        group by stage, query_id, doc_id
        having count(*) > 1
    ) as twice using (stage, query_id, doc_id)
window same as (partition by stage, query_id, doc_id);
