-- What people are told of an event beyond its body: JSON, null for nothing. Written with the event, never changed.
ALTER TABLE events ADD COLUMN said TEXT;
-- Whether a channel puts events into words, or sends their bodies as they are.
ALTER TABLE integrations ADD COLUMN speaks INTEGER NOT NULL DEFAULT 1;
UPDATE integrations SET speaks = 0 WHERE relay = 1 OR type IN ('webhook', 'apns');
