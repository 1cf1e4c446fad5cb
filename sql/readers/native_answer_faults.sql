-- What is wrong between the fields of a line, and between lines.
insert into json_faults

select line_no, 'repeated_query', 'query_id', query_id, 'this query stands on line ' || first_line || ' already'
from (
    select line_no, query_id, min(line_no) over (partition by query_id) as first_line
    from native_answers
    where query_id is not null
)
where line_no > first_line

union all

select line_no, 'error_with_status_ok', 'error', error, 'expected the status error or timeout in a line that has an error'
from native_answers
where status = 'ok' and error is not null

union all

select line_no, 'results_and_stages', 'results', null, 'expected results or stages in a line, not both'
from native_answers
where has_results and has_stages

union all

select line_no, 'missing_field', 'results', null,
    'this field is missing: expected results (or stages), [] where nothing came back'
from native_answers
where not has_results and not has_stages and status = 'ok' and not coalesce(abstained, false)

union all

select line_no, 'missing_stage', 'stages', null, 'expected the stage final among the stages: what came out at the end'
from native_answers
where
    has_stages and status = 'ok' and not coalesce(abstained, false)
    and line_no not in (select line_no from json_faults where field = 'stages')
    and line_no not in (select line_no from native_lists where stage = 'final')

union all

select line_no, 'wrong_value', field, null, 'expected a list of results, [] where nothing came back'
from native_lists
where type <> 'ARRAY'

union all

select line_no, 'wrong_value', field, null, 'expected a stage that has a name'
from native_lists
where stage = ''

union all

select line_no, 'repeated_field', field, null, 'this stage stands ' || count(*) || ' times in one object'
from native_lists
where field <> 'results'
group by line_no, field
having count(*) > 1

union all

select line_no, 'wrong_value', 'answer_scores.' || name, shown, 'expected a finite number'
from native_answer_scores
where value is null

union all

select line_no, 'repeated_field', 'answer_scores.' || name, null, 'this score stands ' || count(*) || ' times in one object'
from native_answer_scores
group by line_no, name
having count(*) > 1;
