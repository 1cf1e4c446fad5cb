-- What is compared: each of the two runs, its collection, and the label sets it has scores under, newest first.
select r.run, r.query_set, s.name as query_set_name, r.collection, c.name as collection_name, c.version as collection_version,
       c.content_hash as collection_hash, c.num_documents, c.unit, c.id_scheme,
       (select list(o.label_set order by l.added_at desc, o.label_set desc)
        from scorings as o join label_sets as l on l.label_set = o.label_set where o.run = r.run) as scored_under,
       (select list(g.stage order by g.position, g.stage) from run_stages as g where g.run = r.run) as stages
from runs as r
join query_sets as s on s.query_set = r.query_set
join collections as c on c.collection = r.collection
where r.run in ($base, $cand)
