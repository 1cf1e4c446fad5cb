-- What is said of a set of scores: every mean, ceiling and count has its one definition here. It takes the alias of
-- rows of query_scores: select run, unnest(means(s)) from query_scores as s where k = 5 group by run.
create or replace macro means(scores) as {
    'n': count(*) filter (scores.num_relevant > 0),
    'hit': avg(scores.hit), 'complete': avg(scores.complete), 'recall': avg(scores.recall),
    'precision': avg(scores.precision), 'f1': avg(scores.f1), 'rr': avg(scores.rr), 'ap': avg(scores.ap),
    'dcg': avg(scores.dcg), 'ndcg': avg(scores.ndcg), 'ndcg_exp': avg(scores.ndcg_exp),
    'judged': avg(scores.judged), 'leaks': sum(scores.leaks)::bigint,
    'precision_ceiling': avg(least(scores.num_relevant, scores.k) / scores.k) filter (scores.num_relevant > 0),
    'recall_ceiling':
        avg(least(scores.num_relevant, scores.k) / scores.num_relevant) filter (scores.num_relevant > 0),
    'complete_ceiling': avg((scores.num_relevant <= scores.k)::integer) filter (scores.num_relevant > 0),
    'f1_ceiling':
        avg(2 * least(scores.num_relevant, scores.k) / (scores.k + scores.num_relevant))
            filter (scores.num_relevant > 0),
    'ap_ceiling':
        avg(least(scores.num_relevant, scores.k) / scores.num_relevant) filter (scores.num_relevant > 0),
    'num_queries': count(*),
    'missed': count(*) filter (scores.hit = 0),
    'left_out': count(*) filter (scores.outcome = 'left_out'),
    'empty': count(*) filter (scores.outcome = 'empty'),
    'errored': count(*) filter (scores.outcome in ('error', 'timeout')),
    'no_answer': count(*) filter (scores.num_relevant = 0),
    'correct_abstention': avg(scores.abstained::integer) filter (scores.num_relevant = 0),
    'false_abstention': avg(scores.abstained::integer) filter (scores.num_relevant > 0)
};
