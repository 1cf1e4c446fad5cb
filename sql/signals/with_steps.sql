-- The runs that record more than one step of their pipelines. Stages that share a position are one.
select run from run_stages group by run having count(distinct position) > 1
