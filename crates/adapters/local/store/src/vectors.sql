-- A tenant and a model: vectors of one space can be compared and are cached apart from all others.
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
