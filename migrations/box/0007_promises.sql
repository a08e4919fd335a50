-- For how many seconds a sender's latest promise was given: after a start it has them all again.
ALTER TABLE alerts ADD COLUMN promised INTEGER;
UPDATE alerts SET promised = max(expires_at - last_seen, 0) WHERE expires_at IS NOT NULL;
