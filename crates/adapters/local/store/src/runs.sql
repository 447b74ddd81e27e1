-- The documents of metastore and ledger. Beside each document, columns contain the values that queries use.
CREATE TABLE registry (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    document BLOB NOT NULL
);

-- The views of publications, for cursors.
CREATE TABLE publication (
    seq   INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    view  BLOB NOT NULL
);

CREATE TABLE repository (
    id          BLOB PRIMARY KEY,
    tenant      TEXT NOT NULL,
    name        TEXT NOT NULL,
    -- Lane and time of a request that is not answered.
    lane        INTEGER,
    asked_at_ms INTEGER,
    document    BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX repository_asked ON repository (lane, asked_at_ms) WHERE lane IS NOT NULL;

CREATE TABLE run (
    generation       INTEGER PRIMARY KEY,
    repository       BLOB NOT NULL,
    -- 0 running, 1 published, 2 partial, 3 failed, 4 cancelled
    state            INTEGER NOT NULL,
    published_seq    INTEGER,
    ended_at_ms      INTEGER,
    superseded_at_ms INTEGER,
    is_swept         INTEGER NOT NULL,
    has_unsent       INTEGER NOT NULL,
    document         BLOB NOT NULL
);
CREATE INDEX run_of_repository ON run (repository, published_seq);
CREATE UNIQUE INDEX run_unfinished ON run (repository) WHERE state = 0;
CREATE INDEX run_unswept ON run (ended_at_ms) WHERE published_seq IS NOT NULL AND is_swept = 0;

CREATE TABLE ended_part (
    generation INTEGER NOT NULL,
    stage      INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    -- NULL if it is done
    code       TEXT,
    message    TEXT,
    report     TEXT NOT NULL,
    PRIMARY KEY (generation, stage, number)
) WITHOUT ROWID;

