-- Category by language
-- Which category is weak in which language?
select slice_1 as category, slice_2 as language, run, n, ndcg, missed
from slices_by('category', 5, second_by := 'language', in_split := $split)
order by ndcg, category, language, run
