-- What the rules found when a run was added or rescored, against the baseline that the run declares.
create or replace view signal_conflicts as
select run, baseline, label_set, k, rule, status, sentence, numbers, query_ids, found_at
from signal_findings
where label_set in (select current_label_sets.label_set from current_label_sets);
