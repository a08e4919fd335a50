-- When the fallback is paged unless a page of the alert has got through by then.
ALTER TABLE alerts ADD COLUMN undelivered_at INTEGER;
-- Alerts that stand: after ten minutes of the box's running. Those with a rung ahead are only looked at then.
UPDATE alerts SET undelivered_at = l.at + 600, due_at = min(coalesce(due_at, l.at + 600), l.at + 600)
  FROM (SELECT CAST(value AS INTEGER) AS at FROM meta WHERE key = 'last_alive') l
  WHERE state = 'open' AND silenced_by IS NULL AND page_accounts <> '[]'
    AND (EXISTS (SELECT 1 FROM relay) OR EXISTS (SELECT 1 FROM contacts));
