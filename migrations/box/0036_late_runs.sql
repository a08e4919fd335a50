-- How late a run's first word came, in seconds; 0: in time, or nobody waited for it.
ALTER TABLE heartbeat_runs ADD COLUMN late INTEGER NOT NULL DEFAULT 0;
