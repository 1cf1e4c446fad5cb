-- The cutoff at which label_suspects counts verdicts: 5, or the largest below it that the store has, or the smallest.
create or replace macro suspect_cutoff() as
    (select coalesce(max(cutoffs.k) filter (cutoffs.k <= 5), min(cutoffs.k)) from cutoffs);
