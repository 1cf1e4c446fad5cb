-- The columns of a frame with results; $by_rank: the column rank orders them, else the score.
insert into frame_results
select row_no, coalesce(stage, 'final'), query_id, doc_id, if($by_rank, 0 - rank, score), score, rank
from frame_columns;
