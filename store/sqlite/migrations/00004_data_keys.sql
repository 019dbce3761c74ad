-- Each payload has a key of its own, encrypted by the keyset: dropping it erases the payload. NULL in rows that are older,
-- which the keyset itself sealed, and in erased ones.

-- +goose Up
ALTER TABLE payloads ADD COLUMN data_key BLOB;

-- +goose Down
ALTER TABLE payloads DROP COLUMN data_key;
