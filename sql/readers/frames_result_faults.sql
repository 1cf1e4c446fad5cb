-- What is wrong with the rows of a frame with results. $by_rank: the column rank orders them, else the score.
-- The values are looked up in the frame afterwards, for the rows that are spelt out.
insert into json_faults

select row_no, 'wrong_value', 'query_id', null, 'expected an id: a text that is not empty, or a whole number'
from frame_results
where coalesce(query_id, '') = ''

union all

select row_no, 'wrong_value', 'doc_id', null, 'expected an id: a text that is not empty, or a whole number'
from frame_results
where coalesce(doc_id, '') = ''

union all

select row_no, 'wrong_value', 'stage', null, 'expected a stage that has a name'
from frame_results
where stage = ''

union all

select row_no, 'non_finite_score', 'score', null, 'expected a finite number'
from frame_results
where not coalesce(isfinite(score), $by_rank)

union all

select row_no, 'non_numeric_rank', 'rank', null, 'expected a whole number'
from frame_results
where $by_rank and not coalesce(isfinite(rank) and rank = trunc(rank), false)

union all

select row_no, 'duplicate_rank', 'rank', null,
    'a rank stands once in a ranking that goes by ranks; query ' || left(query_id, 60) || ' has it on line ' || first_row
    || ' already'
from (
    select row_no, doc_id, query_id, min(row_no) over same as first_row, min(doc_id) over same <> max(doc_id) over same as differ
    from frame_results
    where $by_rank and isfinite(rank)
    window same as (partition by stage, query_id, rank)
)
where row_no > first_row and differ;
