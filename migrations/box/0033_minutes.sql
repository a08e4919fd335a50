-- Minutes of all alerts lie together, the latest last, so that what counts events touches a page or two, however many
-- alerts stand; beside each alert's hours it was a page for each. A minute becomes part of an hour within seven hours, and
-- that of an alert which is gone goes then.
CREATE TABLE alert_minutes (
  slot     INTEGER NOT NULL,
  alert_id INTEGER NOT NULL,
  n        INTEGER NOT NULL,
  PRIMARY KEY (slot, alert_id)
) STRICT, WITHOUT ROWID;
INSERT INTO alert_minutes (slot, alert_id, n) SELECT slot, alert_id, n FROM alert_buckets WHERE slot % 3600 <> 0;
DELETE FROM alert_buckets WHERE slot % 3600 <> 0;
DROP INDEX alert_buckets_minutes;
