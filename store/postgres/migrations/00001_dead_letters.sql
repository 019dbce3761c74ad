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
    tags         JSON,
    state        TEXT    NOT NULL,
    replays      BIGINT NOT NULL,
    not_before   BIGINT,
    updated_at   BIGINT NOT NULL,
    keep_until   BIGINT NOT NULL,
    -- The newest failure, copied for filters; run_id points at the rest of it.
    run_id       TEXT    NOT NULL,
    class        TEXT    NOT NULL,
    cause        TEXT    NOT NULL,
    fingerprint  TEXT    NOT NULL,
    version      TEXT    NOT NULL,
    last_failure BIGINT NOT NULL
);

-- Lists are newest first, and most are of one state. Longer texts are not indexed: an index entry has a size limit, and a
-- record must never be refused for it.
CREATE INDEX dead_letters_newest ON dead_letters (last_failure DESC, id DESC);
CREATE INDEX dead_letters_state ON dead_letters (state, last_failure DESC, id DESC);
CREATE INDEX dead_letters_type ON dead_letters (job_type, last_failure DESC, id DESC);

CREATE TABLE failures (
    dead_letter_id   TEXT    NOT NULL REFERENCES dead_letters (id),
    run_id           TEXT    NOT NULL,
    seq              BIGINT NOT NULL, -- order of arrival within the dead letter, from 1
    workflow_id      TEXT    NOT NULL,
    replay           BIGINT NOT NULL,
    schema_version   BIGINT NOT NULL,
    version          TEXT    NOT NULL,
    class            TEXT    NOT NULL,
    cause            TEXT    NOT NULL,
    message          TEXT    NOT NULL,
    fingerprint      TEXT    NOT NULL,
    attempts         JSON NOT NULL,
    first_failure    BIGINT NOT NULL,
    last_failure     BIGINT NOT NULL,
    payload_ref      TEXT    NOT NULL,
    redaction        JSON,
    -- TEXT, and last: it comes back byte by byte, any depth of nesting is accepted, and rows are read without it.
    redacted_payload TEXT,
    PRIMARY KEY (dead_letter_id, run_id),
    UNIQUE (dead_letter_id, seq)
);

CREATE TABLE replays (
    dead_letter_id TEXT    NOT NULL REFERENCES dead_letters (id),
    number         BIGINT NOT NULL,
    answers_seq    BIGINT NOT NULL, -- the failures that had arrived when the replay was first recorded
    request_id     TEXT    NOT NULL,
    actor          TEXT    NOT NULL,
    reason         TEXT    NOT NULL,
    defect         TEXT    NOT NULL,
    fixed_version  TEXT    NOT NULL,
    forced         BOOLEAN NOT NULL,
    started_at     BIGINT NOT NULL,
    finished_at    BIGINT,
    outcome        TEXT    NOT NULL,
    detail         TEXT    NOT NULL,
    state          TEXT    NOT NULL,
    not_before     BIGINT,
    PRIMARY KEY (dead_letter_id, number)
);

CREATE TABLE requests (
    dead_letter_id TEXT    NOT NULL REFERENCES dead_letters (id),
    request_id     TEXT    NOT NULL,
    kind           TEXT    NOT NULL,
    seq            BIGINT NOT NULL, -- order of arrival within the dead letter, from 1
    actor          TEXT    NOT NULL,
    reason         TEXT    NOT NULL,
    note           TEXT    NOT NULL,
    accepted       BOOLEAN NOT NULL,
    replay         BIGINT NOT NULL,
    refusal        JSON,
    requested_at   BIGINT NOT NULL,
    state          TEXT    NOT NULL,
    PRIMARY KEY (dead_letter_id, request_id, kind),
    UNIQUE (dead_letter_id, seq)
);

-- An erased payload keeps its row without its bytes: a writer that comes late must not bring it back.
CREATE TABLE payloads (
    ref        TEXT    NOT NULL PRIMARY KEY,
    job_type   TEXT    NOT NULL,
    job_key    TEXT    NOT NULL,
    keyset_id  TEXT    NOT NULL,
    ciphertext BYTEA,
    created_at BIGINT NOT NULL,
    erased_at  BIGINT,
    CHECK ((ciphertext IS NULL) = (erased_at IS NOT NULL))
);

-- +goose Down
DROP TABLE payloads;
DROP TABLE requests;
DROP TABLE replays;
DROP TABLE failures;
DROP TABLE dead_letters;
