-- Alerts that somebody opened to see whom they reach.
ALTER TABLE alerts ADD COLUMN drill INTEGER NOT NULL DEFAULT 0;
CREATE INDEX alerts_drills ON alerts (project_id) WHERE drill = 1 AND state <> 'resolved';
