-- Times are microseconds since 1970, UTC.

-- +goose Up
CREATE TABLE dead_letters (
    id           TEXT    NOT NULL PRIMARY KEY,
    namespace    TEXT    NOT NULL,
    job_type     TEXT    NOT NULL,
    job_key      TEXT    NOT NULL,
    owner        TEXT    NOT NULL,
    runbook      TEXT    NOT NULL,
    subject      TEXT    NOT NULL,
    tags         TEXT,
    state        TEXT    NOT NULL,
    replays      INTEGER NOT NULL,
    not_before   INTEGER,
    updated_at   INTEGER NOT NULL,
    keep_until   INTEGER NOT NULL,
    -- The newest failure, copied for filters; run_id points at the rest of it.
    run_id       TEXT    NOT NULL,
    class        TEXT    NOT NULL,
    cause        TEXT    NOT NULL,
    fingerprint  TEXT    NOT NULL,
    version      TEXT    NOT NULL,
    last_failure INTEGER NOT NULL
) STRICT;

-- Lists are newest first, and most are of one state. Longer texts are not indexed: an index entry has a size limit, and a
-- record must never be refused for it.
CREATE INDEX dead_letters_newest ON dead_letters (last_failure DESC, id DESC);
CREATE INDEX dead_letters_state ON dead_letters (state, last_failure DESC, id DESC);
CREATE INDEX dead_letters_type ON dead_letters (job_type, last_failure DESC, id DESC);

CREATE TABLE failures (
    dead_letter_id   TEXT    NOT NULL REFERENCES dead_letters (id),
    run_id           TEXT    NOT NULL,
    seq              INTEGER NOT NULL, -- order of arrival within the dead letter, from 1
    workflow_id      TEXT    NOT NULL,
    replay           INTEGER NOT NULL,
    schema_version   INTEGER NOT NULL,
    version          TEXT    NOT NULL,
    class            TEXT    NOT NULL,
    cause            TEXT    NOT NULL,
    message          TEXT    NOT NULL,
    fingerprint      TEXT    NOT NULL,
    attempts         TEXT NOT NULL,
    first_failure    INTEGER NOT NULL,
    last_failure     INTEGER NOT NULL,
    payload_ref      TEXT    NOT NULL,
    redaction        TEXT,
    -- TEXT, and last: it comes back byte by byte, any depth of nesting is accepted, and rows are read without it.
    redacted_payload TEXT,
    PRIMARY KEY (dead_letter_id, run_id),
    UNIQUE (dead_letter_id, seq)
) STRICT;

CREATE TABLE replays (
    dead_letter_id TEXT    NOT NULL REFERENCES dead_letters (id),
    number         INTEGER NOT NULL,
    answers_seq    INTEGER NOT NULL, -- the failures that had arrived when the replay was first recorded
    request_id     TEXT    NOT NULL,
    actor          TEXT    NOT NULL,
    reason         TEXT    NOT NULL,
    defect         TEXT    NOT NULL,
    fixed_version  TEXT    NOT NULL,
    forced         INTEGER NOT NULL,
    started_at     INTEGER NOT NULL,
    finished_at    INTEGER,
    outcome        TEXT    NOT NULL,
    detail         TEXT    NOT NULL,
    state          TEXT    NOT NULL,
    not_before     INTEGER,
    PRIMARY KEY (dead_letter_id, number)
) STRICT;

CREATE TABLE requests (
    dead_letter_id TEXT    NOT NULL REFERENCES dead_letters (id),
    request_id     TEXT    NOT NULL,
    kind           TEXT    NOT NULL,
    seq            INTEGER NOT NULL, -- order of arrival within the dead letter, from 1
    actor          TEXT    NOT NULL,
    reason         TEXT    NOT NULL,
    note           TEXT    NOT NULL,
    accepted       INTEGER NOT NULL,
    replay         INTEGER NOT NULL,
    refusal        TEXT,
    requested_at   INTEGER NOT NULL,
    state          TEXT    NOT NULL,
    PRIMARY KEY (dead_letter_id, request_id, kind),
    UNIQUE (dead_letter_id, seq)
) STRICT;

-- An erased payload keeps its row without its bytes: a writer that comes late must not bring it back.
CREATE TABLE payloads (
    ref        TEXT    NOT NULL PRIMARY KEY,
    job_type   TEXT    NOT NULL,
    job_key    TEXT    NOT NULL,
    keyset_id  TEXT    NOT NULL,
    ciphertext BLOB,
    created_at INTEGER NOT NULL,
    erased_at  INTEGER,
    CHECK ((ciphertext IS NULL) = (erased_at IS NOT NULL))
) STRICT;

-- +goose Down
DROP TABLE payloads;
DROP TABLE requests;
DROP TABLE replays;
DROP TABLE failures;
DROP TABLE dead_letters;
