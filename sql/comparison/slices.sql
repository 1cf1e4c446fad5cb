-- The queries of every slice of one to three dimensions together.
select s1.slice as slice_1, s2.slice as slice_2, s3.slice as slice_3, list(s1.query_id) as query_ids
from label_sets as l
join query_slices as s1 on s1.query_set = l.query_set and s1.dimension = $first
left join query_slices as s2 on s2.query_set = l.query_set and s2.query_id = s1.query_id and s2.dimension = $second
left join query_slices as s3 on s3.query_set = l.query_set and s3.query_id = s1.query_id and s3.dimension = $third
where l.label_set = $labels
  and ($second is null or s2.slice is not null) and ($third is null or s3.slice is not null)
group by s1.slice, s2.slice, s3.slice
order by s1.slice, s2.slice, s3.slice
