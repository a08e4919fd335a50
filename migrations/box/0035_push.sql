-- What a browser that is pushed to wants (JSON list; NULL: pages), which of the box's keys it subscribed with, and when a
-- device last showed something, and how many seconds after it was sent.
ALTER TABLE contacts ADD COLUMN wants TEXT;
ALTER TABLE contacts ADD COLUMN server_key TEXT;
ALTER TABLE contacts ADD COLUMN shown_at INTEGER;
ALTER TABLE contacts ADD COLUMN shown_after INTEGER;
ALTER TABLE pages ADD COLUMN shown_at INTEGER;
