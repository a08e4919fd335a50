-- A channel's own texts in Mustache; empty for the usual ones.
ALTER TABLE integrations ADD COLUMN title_template TEXT NOT NULL DEFAULT '';
ALTER TABLE integrations ADD COLUMN body_template TEXT NOT NULL DEFAULT '';
