-- +goose Up
ALTER TABLE requests ADD COLUMN effect TEXT NOT NULL DEFAULT '';
ALTER TABLE requests ADD COLUMN happened INTEGER;

-- +goose Down
ALTER TABLE requests DROP COLUMN happened;
ALTER TABLE requests DROP COLUMN effect;
