-- A drill counts in no number: the counts beside a list of alerts go without it, as every other one does.
DROP TRIGGER alerts_made;
CREATE TRIGGER alerts_made AFTER INSERT ON alerts WHEN NEW.drill = 0 BEGIN
  INSERT INTO alert_counts (project_id, what, n) VALUES (NEW.project_id, NEW.state, 1)
    ON CONFLICT (project_id, what) DO UPDATE SET n = n + 1;
END;
DROP TRIGGER alerts_moved;
CREATE TRIGGER alerts_moved AFTER UPDATE OF state ON alerts WHEN NEW.state <> OLD.state BEGIN
  UPDATE alert_counts SET n = n - 1 WHERE project_id = OLD.project_id AND what = OLD.state AND NEW.drill = 0;
  INSERT INTO alert_counts (project_id, what, n) SELECT NEW.project_id, NEW.state, 1 WHERE NEW.drill = 0
    ON CONFLICT (project_id, what) DO UPDATE SET n = n + 1;
  UPDATE alert_people SET state = NEW.state WHERE alert_id = NEW.id;
END;
DROP TRIGGER alerts_silenced;
CREATE TRIGGER alerts_silenced AFTER UPDATE OF silenced_by ON alerts
  WHEN (NEW.silenced_by IS NULL) <> (OLD.silenced_by IS NULL) AND NEW.drill = 0 BEGIN
  INSERT INTO alert_counts (project_id, what, n) VALUES (NEW.project_id, 'silenced', iif(NEW.silenced_by IS NULL, -1, 1))
    ON CONFLICT (project_id, what) DO UPDATE SET n = n + excluded.n;
END;
DROP TRIGGER alerts_gone;
CREATE TRIGGER alerts_gone AFTER DELETE ON alerts WHEN OLD.drill = 0 BEGIN
  UPDATE alert_counts SET n = n - 1 WHERE project_id = OLD.project_id AND what = OLD.state;
  UPDATE alert_counts SET n = n - 1 WHERE project_id = OLD.project_id AND what = 'silenced' AND OLD.silenced_by IS NOT NULL;
END;
UPDATE alert_counts SET n = n - (SELECT count(*) FROM alerts a
  WHERE a.project_id = alert_counts.project_id AND a.state = alert_counts.what AND a.drill = 1) WHERE what <> 'silenced';
UPDATE alert_counts SET n = n - (SELECT count(*) FROM alerts a
  WHERE a.project_id = alert_counts.project_id AND a.silenced_by IS NOT NULL AND a.drill = 1) WHERE what = 'silenced';
