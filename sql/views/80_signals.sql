-- What the rules found when a run or its baseline was added or rescored, against the baseline that the run declares.
create or replace view signal_conflicts as
select f.run, f.baseline, f.label_set, f.k, f.split, f.rule, f.status, f.sentence, f.numbers, f.query_ids, r.look_next,
       f.found_at
from signal_findings as f
left join signal_rules as r on r.rule = f.rule
where f.label_set in (select current_label_sets.label_set from current_label_sets);
