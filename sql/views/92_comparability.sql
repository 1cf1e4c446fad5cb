-- Whether two runs can be compared: what they were asked, query by query, and what became of it. One row per query of
-- either run's query set and per labelled query. The labels are those asked for, or the current ones of the baseline.
create or replace macro shared_queries(base, cand, label_set := null) as table
with asked as (
    select b.run as base_run, c.run as cand_run, b.query_set as base_set, c.query_set as cand_set,
           b.collection as base_collection, c.collection as cand_collection, labels_for(base, label_set) as labels
    from runs as b cross join runs as c
    where b.run = known_run(base) and c.run = known_run(cand)
), labelled as (
    select distinct l.query_id from asked join labels as l on l.label_set = asked.labels
), base_queries as (
    select q.query_id, q.text, q.groups from asked join queries as q on q.query_set = asked.base_set
), cand_queries as (
    select q.query_id, q.text, q.groups from asked join queries as q on q.query_set = asked.cand_set
), both_sets as (
    select coalesce(b.query_id, c.query_id) as query_id, b.query_id is not null as in_baseline,
           c.query_id is not null as in_candidate,
           b.query_id is not null and c.query_id is not null
               and (b.text is null or c.text is null or b.text = c.text) and b.groups is not distinct from c.groups as alike
    from base_queries as b full join cand_queries as c on c.query_id = b.query_id
), known_documents as (
    -- both collections, where they differ and the documents of both were given
    select asked.base_collection, asked.cand_collection, asked.labels
    from asked
    join collections as b on b.collection = asked.base_collection and b.num_documents > 0
    join collections as c on c.collection = asked.cand_collection and c.num_documents > 0
    where asked.base_collection <> asked.cand_collection
), lost_evidence as (
    -- queries with a relevant document that only one of the two collections holds
    select distinct l.query_id
    from known_documents as known
    join labels as l on l.label_set = known.labels
    join label_sets as s on s.label_set = l.label_set and l.grade >= s.relevant_from
    left join documents as b on b.collection = known.base_collection and b.doc_id = l.doc_id
    left join documents as c on c.collection = known.cand_collection and c.doc_id = l.doc_id
    where (b.doc_id is null) <> (c.doc_id is null)
)
select coalesce(s.query_id, l.query_id) as query_id, coalesce(s.in_baseline, false) as in_baseline,
       coalesce(s.in_candidate, false) as in_candidate, s.alike, l.query_id is not null as labelled,
       case when br.query_id is null then 'left_out' else br.status end as baseline_status,
       case when cr.query_id is null then 'left_out' else cr.status end as candidate_status,
       e.query_id is null as same_evidence
from both_sets as s
full join labelled as l on l.query_id = s.query_id
cross join asked
left join run_queries as br on br.run = asked.base_run and br.query_id = coalesce(s.query_id, l.query_id)
left join run_queries as cr on cr.run = asked.cand_run and cr.query_id = coalesce(s.query_id, l.query_id)
left join lost_evidence as e on e.query_id = coalesce(s.query_id, l.query_id)
union all   -- never a row: it has the names looked up, and refused, even where there is nothing to join
select null, null, null, null, null, null, null, null where known_run(base) is null or known_run(cand) is null;

-- For every query that both runs ran to its end with a list of candidates: whether the first step of the two pipelines
-- held the same documents, in whatever order. No row where a run records nothing before its final stage.
create or replace macro candidate_lists(base, cand) as table
with asked as (
    select known_run(base) as base_run, known_run(cand) as cand_run
), first_stages as (
    select s.run, s.stage
    from asked join run_stages as s on s.run in (asked.base_run, asked.cand_run)
    where s.position = (select min(o.position) from run_stages as o where o.run = s.run)
      and s.position < (select min(o.position) from run_stages as o where o.run = s.run and o.stage = 'final')
), lists as (
    select r.run, r.query_id, list(distinct r.doc_id order by r.doc_id) as documents
    from first_stages as s join rankings as r on r.run = s.run and r.stage = s.stage
    group by r.run, r.query_id
), ran as (
    select b.query_id
    from asked
    join run_queries as b on b.run = asked.base_run and b.status = 'ok'
    join run_queries as c on c.run = asked.cand_run and c.status = 'ok' and c.query_id = b.query_id
    where exists (select 1 from first_stages as s where s.run = asked.base_run)
      and exists (select 1 from first_stages as s where s.run = asked.cand_run)
)
select ran.query_id, bl.documents is not distinct from cl.documents as identical,
       coalesce(len(bl.documents), 0) as baseline_candidates, coalesce(len(cl.documents), 0) as candidate_candidates
from ran cross join asked
left join lists as bl on bl.run = asked.base_run and bl.query_id = ran.query_id
left join lists as cl on cl.run = asked.cand_run and cl.query_id = ran.query_id
union all   -- never a row, as above
select null, null, null, null where known_run(base) is null or known_run(cand) is null;
