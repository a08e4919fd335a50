-- How many alerts of a minute a shared room is told one by one (0: each); null for kinds that are told each anyway.
-- Rooms from before there was a choice go on as they did.
ALTER TABLE integrations ADD COLUMN storm_threshold INTEGER;
UPDATE integrations SET storm_threshold = 0
  WHERE relay = 0 AND type IN ('slack', 'telegram', 'discord', 'teams', 'mattermost', 'google_chat', 'matrix', 'email');

-- A pending delivery without a next attempt is held: a summary tells of it. told_by is that summary's delivery.
ALTER TABLE deliveries ADD COLUMN told_by INTEGER;
CREATE INDEX deliveries_held ON deliveries (integration_id, id) WHERE status = 'pending' AND next_attempt_ms IS NULL;

-- Rooms that are being told together, and the summary that is under way: everything held before it is told by it.
CREATE TABLE storms (
  integration_id TEXT PRIMARY KEY,
  is_on          INTEGER NOT NULL,
  tell_ms        INTEGER NOT NULL,
  summary_id     INTEGER,
  told           INTEGER
) STRICT, WITHOUT ROWID;
