-- Every change of every note, as it was written. Notes are about the queries of a query set by its name: they hold at
-- every revision of it.
create or replace view note_history as
select coalesce(query_sets.name, regexp_replace(annotations.query_set, '@[^@]*$', '')) as query_set_name, annotations.*
from annotations
left join query_sets on query_sets.query_set = annotations.query_set;

-- What holds now: one row per subject, which is a query, a query in one run, or a label. Of each part what was said
-- last; an empty text took it back.
create or replace view notes as
select query_set_name, query_id, run, doc_id,
       coalesce(arg_max(state, annotated_at), 'open') as state,
       nullif(arg_max(cause, annotated_at), '') as cause,
       nullif(arg_max(note, annotated_at), '') as note,
       nullif(arg_max(owner, annotated_at), '') as owner,
       arg_max(dispute, annotated_at) as dispute,
       (arg_max({'grade': disputed_grade}, annotated_at) filter (dispute is not null)).grade as disputed_grade,
       arg_max(who, annotated_at) as who, min(annotated_at) as first_at, max(annotated_at) as annotated_at,
       count(*) as num_changes
from note_history
group by query_set_name, query_id, run, doc_id;

-- Labels that somebody holds to be wrong, beside what the current labels say of them.
create or replace view label_disputes as
select notes.query_set_name, notes.query_id, notes.doc_id, current_label_sets.label_set, labels.grade,
       notes.dispute, notes.disputed_grade,
       case notes.dispute when 'no_label' then labels.doc_id is null
                          else coalesce(labels.grade = notes.disputed_grade, false) end as settled,
       notes.state, notes.cause, notes.note, notes.owner, notes.who, notes.first_at, notes.annotated_at
from notes
left join current_label_sets on current_label_sets.query_set_name = notes.query_set_name
left join labels on labels.label_set = current_label_sets.label_set and labels.query_id = notes.query_id
                and labels.doc_id = notes.doc_id
where notes.doc_id is not null and notes.dispute is not null;
