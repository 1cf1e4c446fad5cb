-- What is wrong between the fields and lines of labels.jsonl.
insert into json_faults

select line_no, 'missing_field', 'doc_id', null, 'this field is missing: expected the id of a document, or "no_answer": true'
from native_labels
where not no_answer and not names_document

union all

select line_no, 'missing_field', 'grade', null, 'this field is missing: expected a whole number from -30 to 30'
from native_labels
where not no_answer and names_document and not names_grade

union all

select line_no, 'no_answer_with_label', 'no_answer', 'true', 'expected no doc_id and no grade in a line that says no_answer'
from native_labels
where no_answer and (names_document or names_grade)

union all

select line_no, 'duplicate_judgement_conflict', 'grade', cast(grade as varchar),
    'document ' || left(doc_id, 60) || ' has grade ' || grade || ' here for query ' || left(query_id, 60)
    || ', and grade ' || first_grade || ' on line ' || first_line || ': expected one grade'
from (
    select
        line_no, query_id, doc_id, grade,
        first_value(line_no) over pair as first_line,
        first_value(grade) over pair as first_grade
    from native_labels
    where not no_answer and query_id is not null and doc_id is not null and grade is not null
    window pair as (partition by query_id, doc_id order by line_no)
)
where grade <> first_grade;
