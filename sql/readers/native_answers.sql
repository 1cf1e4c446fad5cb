-- Lines of a run as columns: one a query.
insert into native_answers
select
    line_no,
    json_id(any_value(value) filter (field = 'query_id')) as query_id,
    coalesce(
        json_text(any_value(value) filter (field = 'status')),
        case when json_text(any_value(value) filter (field = 'error')) <> '' then 'error' end,
        'ok'
    ) as status,
    json_number(any_value(value) filter (field = 'latency_ms')) as latency_ms,
    try_cast(json_whole(any_value(value) filter (field = 'context_tokens')) as bigint) as context_tokens,
    json_flag(any_value(value) filter (field = 'abstained')) as abstained,
    nullif(json_text(any_value(value) filter (field = 'error')), '') as error,
    json_text(any_value(value) filter (field = 'answer')) as answer,
    coalesce(bool_or(field = 'results'), false) as has_results,
    coalesce(bool_or(field = 'stages'), false) as has_stages
from json_members
where type <> 'NULL'
group by line_no;

insert into native_answer_scores
select members.line_no, score.key, json_number(score.value), json_shown(score.value)
from json_members as members, json_each(members.value) as score
where members.field = 'answer_scores' and members.type = 'OBJECT' and score.type <> 'NULL';
