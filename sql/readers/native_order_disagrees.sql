-- Queries with a list in which a score is higher than the one before it.
select count(distinct line_no)
from (
    select
        line_no,
        score > lag(score) over (partition by line_no, stage order by position) as rises
    from native_results
    where score is not null
)
where rises;
