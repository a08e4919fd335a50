-- What a message named: asked when somebody answers it.
CREATE INDEX pages_together ON pages (sent_with) WHERE sent_with IS NOT NULL;
