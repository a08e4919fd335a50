-- least: 1
-- Fuller blocks: what updates need of a block is taken from what the updates before have left there.
ALTER TABLE tenant_pages SET (fillfactor = 70);
