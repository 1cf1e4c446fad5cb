-- A document may stand in a ranking once.
insert into json_faults
select row_no, 'duplicate_document', 'doc_id', doc_id,
    'a document stands once in a ranking; query ' || left(query_id, 60) || ' has it on line ' || first_row
    || ' already (--collapse first keeps the best-ranked)'
from frame_repeats
where row_no > first_row;
