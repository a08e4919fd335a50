-- A schedule that the ladders of every project may name.
ALTER TABLE schedules ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
CREATE INDEX schedules_shared ON schedules (project_id) WHERE shared = 1;
