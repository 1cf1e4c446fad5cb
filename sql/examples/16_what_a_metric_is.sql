-- What a metric is
-- How exactly is each number defined?
select metric, definition, denominator, ceiling, source
from metric_definitions
