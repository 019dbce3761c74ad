-- Times are microseconds since 1970, UTC.

-- +goose Up
-- What must not happen without a trace. Rows are added and never changed.
CREATE TABLE audit (
    seq        BIGINT  NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- order of arrival
    at         BIGINT  NOT NULL,
    action     TEXT    NOT NULL,
    credential TEXT    NOT NULL,
    actor      TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    namespace  TEXT    NOT NULL,
    targets    JSON   ,
    items      BIGINT  NOT NULL,
    origin     TEXT    NOT NULL
);

-- That a job's data was erased, when it last was, by whom and why. A job need not have a dead letter.
CREATE TABLE erasures (
    dead_letter_id TEXT    NOT NULL PRIMARY KEY, -- the lineage, as in effects
    namespace      TEXT    NOT NULL,
    job_type       TEXT    NOT NULL,
    job_key        TEXT    NOT NULL,
    erased_at      BIGINT  NOT NULL,
    credential     TEXT    NOT NULL,
    actor          TEXT    NOT NULL,
    reason         TEXT    NOT NULL
);

-- Whose payload it is. Empty in rows that are older, and where nobody said.
ALTER TABLE payloads ADD COLUMN namespace TEXT NOT NULL DEFAULT '';
ALTER TABLE payloads ADD COLUMN subject TEXT NOT NULL DEFAULT '';

-- What is valid is shorter than these bounds. A record must never be refused because an index entry would be too long.
CREATE INDEX dead_letters_subject ON dead_letters (subject) WHERE length(subject) BETWEEN 1 AND 255;
CREATE INDEX payloads_subject ON payloads (subject) WHERE length(subject) BETWEEN 1 AND 255;
CREATE INDEX payloads_job ON payloads (job_type, job_key) WHERE length(job_type) + length(job_key) <= 255;

-- +goose Down
DROP INDEX payloads_job;
DROP INDEX payloads_subject;
DROP INDEX dead_letters_subject;
ALTER TABLE payloads DROP COLUMN subject;
ALTER TABLE payloads DROP COLUMN namespace;
DROP TABLE erasures;
DROP TABLE audit;
