-- Times are microseconds since 1970, UTC, by the database's clock.

-- +goose Up
CREATE TABLE effects (
    -- The lineage that a failure of the job has, or would have. It stands for namespace, type and key.
    dead_letter_id   TEXT    NOT NULL,
    name             TEXT    NOT NULL,
    namespace        TEXT    NOT NULL,
    job_type         TEXT    NOT NULL,
    job_key          TEXT    NOT NULL,
    -- The first one is the time of the row's creation, so that it rises also over a purge; each claim adds one.
    fence            INTEGER NOT NULL,
    state            TEXT    NOT NULL CHECK (state IN ('free', 'claimed', 'done', 'unknown')),
    holder           TEXT    NOT NULL,
    downstream       INTEGER NOT NULL, -- the claim was made for a system that deduplicates
    claim_expires_at INTEGER,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    expires_at       INTEGER NOT NULL, -- when the row may be purged
    result           TEXT,             -- JSON; NULL in a done row: it could not be kept
    PRIMARY KEY (dead_letter_id, name),
    CHECK ((state = 'claimed') = (claim_expires_at IS NOT NULL)),
    CHECK (state = 'done' OR result IS NULL)
) STRICT;

CREATE INDEX effects_expiry ON effects (expires_at);

-- +goose Down
DROP TABLE effects;
