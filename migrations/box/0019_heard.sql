-- How far answers were read that the box asks a service for, as JSON: whose they are, the place, and when it was written.
ALTER TABLE gateways ADD COLUMN heard TEXT;
