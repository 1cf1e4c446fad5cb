-- The unlabelled documents in the first k of both runs, by query, and how far they leave the difference in hit,
-- precision and reciprocal rank open: the lowest and the highest that any labels for them could give. A document has
-- one label, so one that both runs show cannot count for one of them only.
with shown as (
    select r.run, r.query_id, r.doc_id, r.rank
    from rankings as r
    join query_metrics as m on m.run = r.run and m.label_set = $label_set and m.stage = 'final' and m.k = $k
                           and m.query_id = r.query_id and m.outcome = 'returned'
    left join labelled_ranks as l on l.run = r.run and l.stage = 'final' and l.label_set = $label_set
                                 and l.query_id = r.query_id and l.doc_id = r.doc_id
    left join label_sets as s on s.label_set = $label_set
    left join queries as q on q.query_set = s.query_set and q.query_id = r.query_id
    left join documents as d on d.collection = s.collection and d.doc_id = r.doc_id
    where r.run in ($base, $cand) and r.stage = 'final' and r.rank <= $k and l.doc_id is null
      and (d.groups is null or q.groups is null or list_has_any(d.groups, q.groups))   -- else it can never be relevant
), unlabelled as (
    select coalesce(b.query_id, c.query_id) as query_id, b.rank as b_rank, c.rank as c_rank
    from (from shown where run = $base) as b
    full join (from shown where run = $cand) as c on c.query_id = b.query_id and c.doc_id = b.doc_id
), measured as (
    select b.query_id, b.hit as b_hit, c.hit as c_hit, b.rr as b_rr, c.rr as c_rr, b.precision as b_precision,
           c.precision as c_precision
    from query_metrics as b
    join query_metrics as c on c.run = $cand and c.label_set = $label_set and c.stage = 'final' and c.k = $k
                           and c.query_id = b.query_id
    where b.run = $base and b.label_set = $label_set and b.stage = 'final' and b.k = $k and b.num_relevant > 0
      and ($queries::varchar[] is null or b.query_id in (select unnest($queries::varchar[])))
)
-- Of hit and rr it is one document that decides: no other could take a run further from the other.
select m.query_id,
       count(u.b_rank) as b_unlabelled, count(u.c_rank) as c_unlabelled,
       least(m.c_hit - m.b_hit,
             min(greatest(m.c_hit, (u.c_rank is not null)::integer) - 1) filter (u.b_rank is not null)) as hit_lowest,
       greatest(m.c_hit - m.b_hit,
                max(1 - greatest(m.b_hit, (u.b_rank is not null)::integer)) filter (u.c_rank is not null)) as hit_highest,
       m.c_precision - m.b_precision - count(*) filter (u.b_rank is not null and u.c_rank is null) / $k as precision_lowest,
       m.c_precision - m.b_precision + count(*) filter (u.c_rank is not null and u.b_rank is null) / $k as precision_highest,
       least(m.c_rr - m.b_rr,
             min(greatest(m.c_rr, coalesce(1 / u.c_rank, 0)) - greatest(m.b_rr, 1 / u.b_rank))) as rr_lowest,
       greatest(m.c_rr - m.b_rr,
                max(greatest(m.c_rr, 1 / u.c_rank) - greatest(m.b_rr, coalesce(1 / u.b_rank, 0)))) as rr_highest
from measured as m
left join unlabelled as u on u.query_id = m.query_id
group by m.query_id, m.b_hit, m.c_hit, m.b_rr, m.c_rr, m.b_precision, m.c_precision
order by m.query_id
