-- When a channel last took something, to the minute; since when it is off, and by whom: an account's id, `breaker`,
-- `receiver` (it asked for no more), or `operator`.
ALTER TABLE integrations ADD COLUMN worked_at INTEGER;
ALTER TABLE integrations ADD COLUMN off_at INTEGER;
ALTER TABLE integrations ADD COLUMN off_by TEXT;
