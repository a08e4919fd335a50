-- What happened, by day: sums that outlive the alerts. span: `day` (at: days since 1 January 1970, by the tenant's zone) or
-- `month` (at: months since then; the sum of its days, so that two years are read quickly). by: `all`, `level`, `person`, for
-- each project and for all (project_id 0); `rule` for each project. figures: JSON.
CREATE TABLE number_days (
  by         TEXT NOT NULL,
  span       TEXT NOT NULL,
  at         INTEGER NOT NULL,
  project_id INTEGER NOT NULL,
  key        TEXT NOT NULL,
  figures    TEXT NOT NULL,
  PRIMARY KEY (by, span, at, project_id, key)
) STRICT, WITHOUT ROWID;

-- How long each person was on call; project_id 0: anywhere, each second once.
CREATE TABLE number_duty (
  day        INTEGER NOT NULL,
  project_id INTEGER NOT NULL,
  account_id TEXT NOT NULL,
  seconds    INTEGER NOT NULL,
  night      INTEGER NOT NULL,
  PRIMARY KEY (day, project_id, account_id)
) STRICT, WITHOUT ROWID;

-- When each person was rung last, and their latest broken nights: what comes within ten minutes is the same interruption.
CREATE TABLE number_people (
  account_id TEXT PRIMARY KEY,
  rang_at    INTEGER NOT NULL,
  nights     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The zone that a person's nights are in; NULL: the tenant's.
ALTER TABLE accounts ADD COLUMN timezone TEXT;

-- Days are reckoned from lines of history up to `numbers_read`. The id of the last line is given again once it is deleted: what
-- is written then wasn't read.
CREATE TRIGGER timeline_gone AFTER DELETE ON timeline WHEN OLD.id > (SELECT coalesce(max(id), 0) FROM timeline) BEGIN
  UPDATE meta SET value = (SELECT coalesce(max(id), 0) FROM timeline)
    WHERE key = 'numbers_read' AND value > (SELECT coalesce(max(id), 0) FROM timeline);
END;

-- What was a project's goes with it, and what was a person's with them. The tenant's sums stay.
CREATE TRIGGER projects_gone AFTER DELETE ON projects BEGIN
  DELETE FROM number_days WHERE project_id = OLD.id;
  DELETE FROM number_duty WHERE project_id = OLD.id;
END;
CREATE TRIGGER accounts_gone AFTER DELETE ON accounts BEGIN
  DELETE FROM number_days WHERE by = 'person' AND key = OLD.id;
  DELETE FROM number_duty WHERE account_id = OLD.id;
END;
