-- Senders that name their alerts, and say when they fire, go on and end (additions A1).
ALTER TABLE alerts ADD COLUMN dedup_key TEXT;
ALTER TABLE alerts ADD COLUMN room INTEGER;
ALTER TABLE alerts ADD COLUMN instance TEXT;
ALTER TABLE alerts ADD COLUMN expires_at INTEGER;
ALTER TABLE alerts ADD COLUMN extra TEXT;
CREATE INDEX alerts_dedup ON alerts (project_id, dedup_key) WHERE dedup_key IS NOT NULL AND state <> 'resolved';
CREATE INDEX alerts_by_key ON alerts (alert_key, id);

-- A source speaks the format of its kind; its alerts' names hold in the project or in itself alone.
ALTER TABLE sources ADD COLUMN kind TEXT NOT NULL DEFAULT 'events';
ALTER TABLE sources ADD COLUMN room TEXT NOT NULL DEFAULT 'project';
ALTER TABLE sources ADD COLUMN short_hash TEXT;
CREATE UNIQUE INDEX sources_short ON sources (short_hash) WHERE short_hash IS NOT NULL;
