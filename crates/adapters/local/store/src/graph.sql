-- The repositories of the graph. They are numbered, so that rows stay small.
CREATE TABLE owner (
    id     INTEGER PRIMARY KEY,
    key    BLOB NOT NULL UNIQUE,
    tenant TEXT NOT NULL
);

CREATE TABLE path (
    id    INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    path  TEXT NOT NULL,
    UNIQUE (owner, path)
);

-- The identities of nodes. `prefix` is the first four bytes of the key. An index on it has half the size of
-- an index on the key.
CREATE TABLE node (
    id     INTEGER PRIMARY KEY,
    prefix INTEGER NOT NULL,
    key    BLOB NOT NULL
);
CREATE INDEX node_by_prefix ON node (prefix);

-- The versions of nodes. A row contains the values by which lists of nodes are sorted. All other values are
-- in a compressed block with those of adjacent nodes.
CREATE TABLE node_version (
    node     INTEGER NOT NULL,
    gen_from INTEGER NOT NULL,
    gen_to   INTEGER,
    owner    INTEGER NOT NULL,
    path     INTEGER,
    line     INTEGER NOT NULL,
    name     TEXT NOT NULL,
    block    INTEGER NOT NULL,
    slot     INTEGER NOT NULL,
    PRIMARY KEY (node, gen_from)
) WITHOUT ROWID;
CREATE INDEX node_version_of_owner ON node_version (owner);
CREATE INDEX node_version_ended ON node_version (owner, gen_to) WHERE gen_to IS NOT NULL;

CREATE TABLE node_block (
    id      INTEGER PRIMARY KEY,
    -- Slots, and how many of them a version still names.
    slots   INTEGER NOT NULL,
    live    INTEGER NOT NULL,
    payload BLOB NOT NULL
);

-- All edges that start at a node and began with one generation.
CREATE TABLE edge_list (
    source   INTEGER NOT NULL,
    owner    INTEGER NOT NULL,
    gen_from INTEGER NOT NULL,
    payload  BLOB NOT NULL,
    PRIMARY KEY (source, owner, gen_from)
) WITHOUT ROWID;
CREATE INDEX edge_list_of_owner ON edge_list (owner);

-- The retired edges of lists. They are few, because a sweep removes them from their list.
CREATE TABLE edge_end (
    source   INTEGER NOT NULL,
    owner    INTEGER NOT NULL,
    gen_from INTEGER NOT NULL,
    position INTEGER NOT NULL,
    gen_to   INTEGER NOT NULL,
    PRIMARY KEY (source, owner, gen_from, position)
) WITHOUT ROWID;
CREATE INDEX edge_end_of_owner ON edge_end (owner, gen_to);

-- The nodes with an edge to a target. A row remains until the next sweep after the edge was removed.
CREATE TABLE edge_in (
    target INTEGER NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY (target, source)
) WITHOUT ROWID;

CREATE TABLE pattern (
    owner    INTEGER NOT NULL,
    key      BLOB NOT NULL,
    gen_from INTEGER NOT NULL,
    gen_to   INTEGER,
    payload  BLOB NOT NULL,
    PRIMARY KEY (owner, key, gen_from)
) WITHOUT ROWID;
