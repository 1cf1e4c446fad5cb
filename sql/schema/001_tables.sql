-- The tables of a store. Keys are the names that people gave: readable in any client, and nothing to hand out.
-- A data set's parts are named NAME@REVISION. No constraint, sequence or index: the same schema must run on
-- DuckLake, so what has to be unique is checked where it is written.

create table collections (
    collection varchar not null,            -- NAME@VERSION
    name varchar not null,
    version varchar not null,
    unit varchar,                           -- document, chunk, passage, ...
    id_scheme varchar,
    num_documents bigint not null,          -- 0: the collection is named, its documents were not given
    content_hash varchar not null,
    added_at timestamptz not null
);

create table documents (
    collection varchar not null,
    doc_id varchar not null,
    title varchar,
    text varchar,
    groups varchar[]                        -- who may read it; NULL: everyone
);

create table query_sets (
    query_set varchar not null,             -- NAME@REVISION
    name varchar not null,
    revision varchar not null,
    num_queries bigint not null,
    content_hash varchar not null,
    added_at timestamptz not null
);

create table queries (
    query_set varchar not null,
    query_id varchar not null,
    text varchar,
    category varchar,
    language varchar,
    split varchar,
    tags varchar[],
    groups varchar[],                       -- of the user who asked; NULL: permissions not tested; []: in no group
    must_pass boolean not null,
    attributes map(varchar, varchar)        -- every further field of the query
);

create table label_sets (
    label_set varchar not null,             -- NAME@REVISION
    name varchar not null,
    revision varchar not null,
    query_set varchar not null,
    collection varchar not null,
    relevant_from integer not null,
    reviewer varchar,
    num_labels bigint not null,
    content_hash varchar not null,
    added_at timestamptz not null
);

create table labels (
    label_set varchar not null,
    query_id varchar not null,
    doc_id varchar,                         -- NULL in a line that says: reviewed, and nothing answers it
    grade integer,
    no_answer boolean not null,
    rationale varchar,
    source varchar,                         -- human, pooled from a run, model
    reviewer varchar,
    reviewed date,
    collection varchar,                     -- the version that the reviewer saw, where it is not the label set's
    evidence_group varchar                  -- documents of one group serve the same need
);

create table runs (
    run varchar not null,
    query_set varchar not null,
    collection varchar not null,
    created timestamptz,
    baseline varchar,
    series varchar,
    tags varchar[],
    commit varchar,
    note varchar,
    ordered_by varchar not null,            -- list (as returned), score (trec_eval's order) or rank (the file's rank column)
    num_rows bigint not null,               -- results in the file, all stages
    kept_depth integer,                     -- the first so many of each ranking were stored; NULL: all
    source_file varchar,
    content_hash varchar not null,
    added_at timestamptz not null
);

create table run_stages (
    run varchar not null,
    stage varchar not null,
    position integer not null,              -- several stages may share one: two candidate lists
    cut integer                             -- how many go on to the next position; NULL: all
);

create table run_config (
    run varchar not null,
    setting varchar not null,               -- dotted key: embedding.model
    value varchar not null
);

create table run_queries (
    run varchar not null,
    query_id varchar not null,
    status varchar not null,                -- ok, error, timeout
    latency_ms double,
    context_tokens bigint,
    abstained boolean,
    error varchar,
    answer varchar
);

create table rankings (
    run varchar not null,
    stage varchar not null,
    query_id varchar not null,
    rank integer not null,
    doc_id varchar not null,
    score double
);

create table ranking_lengths (
    run varchar not null,
    stage varchar not null,
    query_id varchar not null,
    num_returned bigint not null            -- in the file, also beyond the kept depth
);

create table answer_scores (
    run varchar not null,
    query_id varchar not null,
    name varchar not null,
    value double not null
);

-- What was scored, under which labels, and from how much of the file.
create table scorings (
    run varchar not null,
    label_set varchar not null,
    depth integer,                          -- NULL: from whole rankings; else only this many results a query were at hand
    scored_at timestamptz not null
);

create table labelled_ranks (
    run varchar not null,
    stage varchar not null,
    label_set varchar not null,
    query_id varchar not null,
    doc_id varchar not null,
    grade integer not null,
    readable boolean not null,
    relevant boolean not null,
    gain integer not null,
    rank integer not null
);

create table query_metrics (
    run varchar not null,
    stage varchar not null,
    label_set varchar not null,
    query_id varchar not null,
    k integer not null,
    outcome varchar not null,               -- returned, empty, error, timeout, left_out
    abstained boolean not null,             -- ran well, and declined to answer or returned nothing at the final stage
    num_relevant integer not null,          -- relevant documents that the query's user may read; 0: no answer
    found integer,
    hit integer,
    complete integer,
    recall double,
    precision double,
    f1 double,
    rr double,
    ap double,
    dcg double,
    ndcg double,
    ndcg_exp double,
    judged double,
    leaks integer not null
);

create table query_metrics_uncut (
    run varchar not null,
    stage varchar not null,
    label_set varchar not null,
    query_id varchar not null,
    outcome varchar not null,
    abstained boolean not null,
    num_relevant integer not null,
    num_returned bigint not null,
    first_relevant_rank integer,
    rr double,
    ap double,
    dcg double,
    ndcg double,
    r_precision double,
    unknown_because varchar                 -- why a value that exists is NULL here
);

-- The means of each slice, made when a run is scored so that 200 runs are read at a glance. n counts the labelled,
-- answerable queries: the denominator of every mean. A ceiling is the mean that a perfect ranking would get.
create table slice_means (
    run varchar not null,
    stage varchar not null,
    label_set varchar not null,
    k integer not null,
    split varchar not null,                 -- all, or a split that the queries name
    dimension varchar not null,             -- all, category, language, must_pass, tag, or an attribute
    slice varchar not null,
    n bigint not null,
    hit double,
    complete double,
    recall double,
    precision double,
    f1 double,
    rr double,
    ap double,
    dcg double,
    ndcg double,
    ndcg_exp double,
    judged double,
    leaks bigint not null,
    precision_ceiling double,
    recall_ceiling double,
    complete_ceiling double,
    f1_ceiling double,
    ap_ceiling double,
    num_queries bigint not null,
    missed bigint not null,
    left_out bigint not null,
    empty bigint not null,
    errored bigint not null,
    no_answer bigint not null,
    correct_abstention double,
    false_abstention double
);

-- Queries that have neither a label nor a no-answer line: outside every mean, and counted.
create table unlabelled_queries (
    run varchar not null,
    label_set varchar not null,
    query_id varchar not null
);

create table cutoffs (k integer not null);

-- What was accepted with a doubt when a run or data set was read.
create table doubts (
    subject varchar not null,               -- a run, label set, query set or collection
    subject_kind varchar not null,
    file varchar not null,
    kind varchar not null,
    num bigint not null,
    sentence varchar not null
);

-- What the rules of signal_rules found in a run against the baseline that it declares, one row per rule that has
-- something to say. Made when the run, or its baseline, is added or scored again.
create table signal_findings (
    run varchar not null,
    baseline varchar not null,
    label_set varchar not null,
    k integer not null,
    split varchar not null,                 -- over which queries: all, or dev where queries name that split
    rule varchar not null,
    status varchar not null,                -- fired, possible
    sentence varchar not null,
    numbers map(varchar, double) not null,
    query_ids varchar[] not null,
    found_at timestamptz not null
);

-- Append-only: what a later row says of the same subject holds for the reader, and all rows stay. A subject is a query
-- of a query set of this name, in every run or in one, or one label of it.
create table annotations (
    annotated_at timestamptz not null,
    who varchar not null,
    query_set varchar not null,
    query_id varchar not null,
    run varchar,                            -- NULL: about the query in every run
    label_set varchar,
    doc_id varchar,                         -- set where it is about a label
    state varchar,                          -- open, in_work, explained, fixed, wont_fix; NULL: as before
    cause varchar,                          -- NULL: as before; an empty text takes it back. So too in the next two
    note varchar,
    owner varchar,
    dispute varchar,                        -- of a label: regrade, no_label; NULL: as before
    disputed_grade integer                  -- what the writer of a regrade holds to be right
);

-- What each run has to say about labels that may be at fault: see the view label_suspects.
create table run_suspects (
    run varchar not null,
    label_set varchar not null,
    kind varchar not null,                  -- unjudged_on_top, irrelevant_on_top, near_identical
    query_id varchar not null,
    doc_id varchar not null,                -- the document that came back
    other_doc_id varchar,                   -- near_identical: the labelled document that did not
    rank integer not null
);

-- Documents of a collection with the same words, or nearly, both ways round.
create table near_documents (
    collection varchar not null,
    doc_id varchar not null,
    other_doc_id varchar not null,
    similarity double not null              -- 1: the same text; else shared words / all words of both
);

-- Relevant labels whose document says no more than the question does.
create table repeated_questions (
    label_set varchar not null,
    query_id varchar not null,
    doc_id varchar not null
);

insert into cutoffs values (1), (3), (5), (10), (20), (50), (100);
