-- The exact account of what changed between two runs: the change of the mean of NDCG, recall, hit and RR at a cutoff as
-- a sum of moves, apart for the queries that the baseline hit already and those it missed. NDCG and recall are sums
-- over documents; hit and RR go by the first relevant document of a query, wherever it stands. Where the baseline is
-- taken under labels of its own, the moves are those under the candidate's labels, and what the labels did to the
-- baseline is a term beside them.
create or replace macro change_account(base, cand, at_k, label_set := null, stage := 'final', query_ids := null,
                                       base_labels := null) as table
with moves as (
    select t.* from rank_transitions(base, cand, at_k, label_set := label_set, stage := stage) as t
    where (query_ids is null or t.query_id in (select unnest(query_ids)))
      and (base_labels is null
           or t.query_id in (select o.query_id from query_metrics as o
                             where o.run = base and o.label_set = known_label_set(base_labels) and o.k = at_k
                               and o.stage = stage and o.num_relevant > 0))
), firsts as (
    select m.query_id, m.baseline_hit,
           min(m.baseline_rank) filter (m.relevant and m.baseline_rank <= at_k) as was,
           min(m.candidate_rank) filter (m.relevant and m.candidate_rank <= at_k) as now,
           count(*) filter (m.relevant) as num_relevant
    from moves as m group by m.query_id, m.baseline_hit
), first_moves as (
    select f.query_id, f.baseline_hit, f.was, f.now,
           case when f.was is null and f.now is null then 'outside'
                when f.was is null then 'entered'
                when f.now is null then 'left'
                when f.now < f.was then 'up'
                when f.now > f.was then 'down'
                else 'same' end as move
    from firsts as f
), terms as (
    select 'ndcg' as metric, m.move, m.baseline_hit, m.query_id, m.ndcg_share as term from moves as m
    union all
    select 'recall', m.move, m.baseline_hit, m.query_id,
           case m.move when 'entered' then 1 / f.num_relevant when 'left' then -1 / f.num_relevant else 0 end
    from moves as m join firsts as f on f.query_id = m.query_id
    where m.relevant
    union all
    select 'hit', f.move, f.baseline_hit, f.query_id,
           case f.move when 'entered' then 1 when 'left' then -1 else 0 end
    from first_moves as f
    union all
    select 'rr', f.move, f.baseline_hit, f.query_id, coalesce(1 / f.now, 0) - coalesce(1 / f.was, 0)
    from first_moves as f
    union all
    select changed.metric, 'labels', changed.baseline_hit, changed.query_id, changed.term
    from (
        select f.query_id, f.baseline_hit,
               unnest([
                   {'metric': 'ndcg', 'term': n.ndcg - o.ndcg}, {'metric': 'recall', 'term': n.recall - o.recall},
                   {'metric': 'hit', 'term': n.hit::double - o.hit}, {'metric': 'rr', 'term': n.rr - o.rr}
               ], recursive := true)
        from firsts as f
        join query_metrics as n on n.run = base and n.label_set = labels_for(base, label_set) and n.k = at_k
                               and n.stage = stage and n.query_id = f.query_id
        join query_metrics as o on o.run = base and o.label_set = base_labels and o.k = at_k
                               and o.stage = stage and o.query_id = f.query_id
    ) as changed
    where abs(changed.term) > 1e-12
)
select t.metric, t.move, t.baseline_hit, count(*) as num_documents, count(distinct t.query_id) as num_queries,
       sum(t.term) / (select count(*) from firsts) as share
from terms as t
group by t.metric, t.move, t.baseline_hit;
