-- Numbers that only grow, whatever rows are forgotten: published_seq, and the newest published generation.
CREATE TABLE counter (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counter (name, value) VALUES ('published_seq', 0), ('newest_published', 0);

CREATE TABLE repository (
    key         BLOB PRIMARY KEY,
    tenant      TEXT NOT NULL,
    name        TEXT NOT NULL,
    source_kind INTEGER NOT NULL,
    source      TEXT NOT NULL,
    branch      TEXT,
    settings    TEXT NOT NULL,
    deleted     INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE alias (
    repository BLOB NOT NULL,
    name       TEXT NOT NULL,
    PRIMARY KEY (repository, name)
) WITHOUT ROWID;

CREATE TABLE lease (
    repository    BLOB PRIMARY KEY,
    epoch         INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    -- 0 once its holder has ended it.
    held          INTEGER NOT NULL
) WITHOUT ROWID;

-- Runs and deletions. AUTOINCREMENT, because a generation is never reused, even after its row is forgotten.
CREATE TABLE generation (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    repository    BLOB NOT NULL,
    -- 0 running, 1 published, 2 partial, 3 failed, 4 cancelled, 5 a deletion
    state         INTEGER NOT NULL,
    published_seq INTEGER,
    swept         INTEGER NOT NULL DEFAULT 0,
    previous      INTEGER,
    manifest_key  TEXT NOT NULL,
    manifest_size INTEGER NOT NULL,
    manifest_hash BLOB NOT NULL,
    plan_key      TEXT NOT NULL,
    plan_size     INTEGER NOT NULL,
    plan_hash     BLOB NOT NULL,
    revision      TEXT NOT NULL,
    branch        TEXT,
    model         TEXT NOT NULL,
    result        TEXT NOT NULL,
    started_at_ms INTEGER NOT NULL,
    ended_at_ms   INTEGER,
    message       TEXT
);
CREATE INDEX generation_of_repository ON generation (repository, published_seq);
CREATE UNIQUE INDEX generation_unfinished ON generation (repository) WHERE state = 0;
CREATE INDEX generation_unpublished ON generation (state) WHERE published_seq IS NULL AND swept = 0;
CREATE INDEX generation_unswept ON generation (ended_at_ms) WHERE published_seq IS NOT NULL AND swept = 0;

CREATE TABLE part (
    generation INTEGER NOT NULL,
    stage      INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    -- NULL while open, 0 done, 1 failed
    ended      INTEGER,
    code       TEXT,
    message    TEXT,
    report     TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (generation, stage, number)
) WITHOUT ROWID;
