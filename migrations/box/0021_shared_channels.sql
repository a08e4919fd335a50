-- A channel of one project that hears of every other one, too, but for those that it leaves out (a JSON list of ids).
ALTER TABLE integrations ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
ALTER TABLE integrations ADD COLUMN except_projects TEXT NOT NULL DEFAULT '[]';
CREATE INDEX integrations_shared ON integrations (id) WHERE shared = 1;
