-- The rows of one endpoint take turns by level and rule (rank: 0 to 5, the hundreds of the alert's level),
-- so that a flood of one rule does not hold up the page of another.
ALTER TABLE deliveries ADD COLUMN rank INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN rule_id INTEGER NOT NULL DEFAULT 0;

UPDATE deliveries SET rank = min(5, a.level / 100), rule_id = a.rule_id
  FROM alerts a WHERE a.id = deliveries.alert_id AND deliveries.status = 'pending';

DROP INDEX deliveries_pending;
DROP INDEX deliveries_probe;
CREATE INDEX deliveries_pending ON deliveries (integration_id, rank, rule_id, id) WHERE status = 'pending';
CREATE INDEX deliveries_probe ON deliveries (integration_id, rank, rule_id, attempts, id) WHERE status = 'pending';
