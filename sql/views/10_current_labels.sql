-- Which labels count: of all label sets for one query set (at any of its revisions), the one added last.
create or replace view current_label_sets as
select query_sets.name as query_set_name,
       arg_max(label_sets.label_set, {'at': label_sets.added_at, 'name': label_sets.label_set}) as label_set
from label_sets
join query_sets on query_sets.query_set = label_sets.query_set
group by query_sets.name;

-- Runs that were not scored under the current labels of their query set: `rankroom rescore` does it.
create or replace view runs_to_rescore as
select runs.run, current_label_sets.label_set
from runs
join query_sets on query_sets.query_set = runs.query_set
join current_label_sets on current_label_sets.query_set_name = query_sets.name
anti join scorings on scorings.run = runs.run and scorings.label_set = current_label_sets.label_set;
