-- How a source's lines are read, beside what their format says: JSON, {} for as usual.
ALTER TABLE sources ADD COLUMN options TEXT NOT NULL DEFAULT '{}';
