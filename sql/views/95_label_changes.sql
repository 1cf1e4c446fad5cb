-- What changed from one label set to another for the same queries. Asked for a label set that is not there, or for two
-- of different query sets, it raises an error.
create or replace macro label_changes(old_set, new_set) as table
with named as (
    select known_label_set(coalesce(old_set, 'NULL')) as old_labels, known_label_set(coalesce(new_set, 'NULL')) as new_labels
), asked as (
    select named.old_labels, named.new_labels,
           case when (select count(distinct s.name) from label_sets as l join query_sets as s on s.query_set = l.query_set
                      where l.label_set in (named.old_labels, named.new_labels)) > 1
                then error('label sets ' || named.old_labels || ' and ' || named.new_labels
                           || ' are about different query sets: there is nothing to compare')
                else true end as alike
    from named
), old as (
    select l.*, l.grade >= s.relevant_from as relevant
    from asked join labels as l on l.label_set = asked.old_labels and asked.alike
    join label_sets as s on s.label_set = l.label_set
), new as (
    select l.*, l.grade >= s.relevant_from as relevant
    from asked join labels as l on l.label_set = asked.new_labels and asked.alike
    join label_sets as s on s.label_set = l.label_set
)
select coalesce(new.query_id, old.query_id) as query_id, coalesce(new.doc_id, old.doc_id) as doc_id,
       case when old.query_id is null then 'added'
            when new.query_id is null then 'removed'
            when old.grade is distinct from new.grade then 'regraded'
            else 'details' end as change,
       old.grade as old_grade, new.grade as new_grade, old.relevant as was_relevant, new.relevant as is_relevant,
       coalesce(new.rationale, old.rationale) as rationale, old.rationale as old_rationale,
       coalesce(new.reviewer, old.reviewer) as reviewer
from old
full join new on new.query_id = old.query_id and new.doc_id is not distinct from old.doc_id
where old.query_id is null or new.query_id is null
   or (old.grade, old.rationale, old.source, old.reviewer, old.reviewed, old.collection, old.evidence_group)
      is distinct from
      (new.grade, new.rationale, new.source, new.reviewer, new.reviewed, new.collection, new.evidence_group)
union all   -- never a row: it has the names looked up, and refused, even where there is nothing to join
select null, null, null, null, null, null, null, null, null, null from asked where not asked.alike;
