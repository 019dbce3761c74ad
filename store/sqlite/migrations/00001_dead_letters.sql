-- +goose Up
CREATE TABLE dead_letters (
    id              TEXT PRIMARY KEY,
    namespace       TEXT NOT NULL,
    job_type        TEXT NOT NULL,
    job_key         TEXT NOT NULL,
    owner           TEXT NOT NULL,
    runbook         TEXT NOT NULL,
    subject         TEXT NOT NULL,
    tags            TEXT NOT NULL,
    state           TEXT NOT NULL,
    replays         BIGINT NOT NULL DEFAULT 0,
    not_before      BIGINT,
    updated_at      BIGINT NOT NULL,
    keep_until      BIGINT NOT NULL,
    current_run     TEXT NOT NULL,
    error_class     TEXT NOT NULL,
    cause           TEXT NOT NULL,
    fingerprint     TEXT NOT NULL,
    handler_version TEXT NOT NULL,
    last_failure    BIGINT NOT NULL
);
CREATE INDEX dead_letters_newest ON dead_letters (last_failure DESC, id DESC);
CREATE INDEX dead_letters_state ON dead_letters (state, last_failure DESC, id DESC);
CREATE INDEX dead_letters_type ON dead_letters (job_type, last_failure DESC, id DESC);
CREATE INDEX dead_letters_fingerprint ON dead_letters (fingerprint);

CREATE TABLE failures (
    dead_letter_id   TEXT NOT NULL REFERENCES dead_letters (id),
    run_id           TEXT NOT NULL,
    seq              BIGINT NOT NULL,
    record           TEXT NOT NULL,
    redacted_payload TEXT NOT NULL,
    PRIMARY KEY (dead_letter_id, run_id)
);

CREATE TABLE replays (
    dead_letter_id TEXT NOT NULL REFERENCES dead_letters (id),
    number         BIGINT NOT NULL,
    finished_at    BIGINT,
    record         TEXT NOT NULL,
    PRIMARY KEY (dead_letter_id, number)
);

CREATE TABLE requests (
    dead_letter_id TEXT NOT NULL REFERENCES dead_letters (id),
    kind           TEXT NOT NULL,
    request_id     TEXT NOT NULL,
    at             BIGINT NOT NULL,
    record         TEXT NOT NULL,
    PRIMARY KEY (dead_letter_id, kind, request_id)
);

CREATE TABLE payloads (
    ref        TEXT PRIMARY KEY,
    job_type   TEXT NOT NULL,
    job_key    TEXT NOT NULL,
    keyset_id  TEXT NOT NULL,
    ciphertext BLOB NOT NULL,
    created_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE payloads;
DROP TABLE requests;
DROP TABLE replays;
DROP TABLE failures;
DROP TABLE dead_letters;
