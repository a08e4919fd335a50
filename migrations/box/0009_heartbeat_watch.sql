-- A heartbeat may be fed by what an adapter's source hears, a Prometheus' Watchdog for example: JSON, null for none.
ALTER TABLE heartbeats ADD COLUMN watch TEXT;
