-- +goose Up
ALTER TABLE requests ADD COLUMN effect TEXT NOT NULL DEFAULT '';
ALTER TABLE requests ADD COLUMN happened BOOLEAN;

-- +goose Down
ALTER TABLE requests DROP COLUMN happened;
ALTER TABLE requests DROP COLUMN effect;
