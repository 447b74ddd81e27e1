-- A space is a tenant and a model. Only vectors of the same space can be compared, and each space is cached
-- separately.
CREATE TABLE space (
    id         INTEGER PRIMARY KEY,
    tenant     TEXT NOT NULL,
    model      TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    UNIQUE (tenant, model, dimensions)
);

CREATE TABLE vector (
    space   INTEGER NOT NULL,
    content BLOB NOT NULL,
    vector  BLOB NOT NULL,
    PRIMARY KEY (space, content)
) WITHOUT ROWID;
