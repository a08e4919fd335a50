-- Lists as people work through them, at a million alerts as at ten.

-- Who has it; null where nobody does, or a sender said that somebody does.
ALTER TABLE alerts ADD COLUMN acked_by TEXT;
UPDATE alerts SET acked_by = (SELECT t.account_id FROM timeline t
    WHERE t.alert_id = alerts.id AND t.kind = 'acknowledged' ORDER BY t.id DESC LIMIT 1)
  WHERE acked_at IS NOT NULL;

CREATE INDEX alerts_urgent ON alerts (project_id, level, id) WHERE state = 'open';
CREATE INDEX alerts_changed ON alerts (project_id, state, updated_seq) WHERE state <> 'open';
CREATE INDEX alerts_held ON alerts (project_id, level, id) WHERE silenced_by IS NOT NULL;
CREATE INDEX executions_alert ON executions (alert_id) WHERE alert_id IS NOT NULL;

-- Whose an alert is: whom it paged, to whom it was given, who acknowledged it. state is the alert's.
CREATE TABLE alert_people (
  alert_id   INTEGER NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL,
  state      TEXT NOT NULL,
  PRIMARY KEY (alert_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_people_of ON alert_people (account_id, state, alert_id);
INSERT OR IGNORE INTO alert_people (alert_id, account_id, state)
  SELECT a.id, p.value, a.state FROM alerts a, json_each(a.page_accounts) p WHERE a.page_accounts <> '[]';
INSERT OR IGNORE INTO alert_people (alert_id, account_id, state)
  SELECT id, acked_by, state FROM alerts WHERE acked_by IS NOT NULL;

-- How many alerts a project has in each state, and how many of the open ones are silenced. Triggers keep both tables: a
-- verb that forgot them would leave figures that nobody could tell from right ones. What folds events in fires none.
CREATE TABLE alert_counts (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  what       TEXT NOT NULL,
  n          INTEGER NOT NULL,
  PRIMARY KEY (project_id, what)
) STRICT, WITHOUT ROWID;
INSERT INTO alert_counts (project_id, what, n) SELECT project_id, state, count(*) FROM alerts GROUP BY project_id, state;
INSERT INTO alert_counts (project_id, what, n)
  SELECT project_id, 'silenced', count(*) FROM alerts WHERE silenced_by IS NOT NULL GROUP BY project_id;

CREATE TRIGGER alerts_made AFTER INSERT ON alerts BEGIN
  INSERT INTO alert_counts (project_id, what, n) VALUES (NEW.project_id, NEW.state, 1)
    ON CONFLICT (project_id, what) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER alerts_moved AFTER UPDATE OF state ON alerts WHEN NEW.state <> OLD.state BEGIN
  UPDATE alert_counts SET n = n - 1 WHERE project_id = OLD.project_id AND what = OLD.state;
  INSERT INTO alert_counts (project_id, what, n) VALUES (NEW.project_id, NEW.state, 1)
    ON CONFLICT (project_id, what) DO UPDATE SET n = n + 1;
  UPDATE alert_people SET state = NEW.state WHERE alert_id = NEW.id;
END;
CREATE TRIGGER alerts_silenced AFTER UPDATE OF silenced_by ON alerts
  WHEN (NEW.silenced_by IS NULL) <> (OLD.silenced_by IS NULL) BEGIN
  INSERT INTO alert_counts (project_id, what, n) VALUES (NEW.project_id, 'silenced', iif(NEW.silenced_by IS NULL, -1, 1))
    ON CONFLICT (project_id, what) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER alerts_gone AFTER DELETE ON alerts BEGIN
  UPDATE alert_counts SET n = n - 1 WHERE project_id = OLD.project_id AND what = OLD.state;
  UPDATE alert_counts SET n = n - 1 WHERE project_id = OLD.project_id AND what = 'silenced' AND OLD.silenced_by IS NOT NULL;
END;
CREATE TRIGGER alerts_paged AFTER UPDATE OF page_accounts ON alerts WHEN NEW.page_accounts <> OLD.page_accounts BEGIN
  INSERT OR IGNORE INTO alert_people (alert_id, account_id, state)
    SELECT NEW.id, value, NEW.state FROM json_each(NEW.page_accounts);
END;
CREATE TRIGGER alerts_taken AFTER UPDATE OF acked_by ON alerts WHEN NEW.acked_by IS NOT NULL BEGIN
  INSERT OR IGNORE INTO alert_people (alert_id, account_id, state) VALUES (NEW.id, NEW.acked_by, NEW.state);
END;
