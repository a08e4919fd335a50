-- How often an alert's events came: n in the minute that begins at slot (Unix seconds). What is older than six hours is
-- merged to the hour by retention, which finds it by the index: a minute that begins an hour is merged as it stands.
CREATE TABLE alert_buckets (
  alert_id INTEGER NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
  slot     INTEGER NOT NULL,
  n        INTEGER NOT NULL,
  PRIMARY KEY (alert_id, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_buckets_minutes ON alert_buckets (slot) WHERE slot % 3600 <> 0;
