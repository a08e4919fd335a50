-- least: 1
-- A hash of each flag of the machine that took the box: the other ones say which of theirs differ. null: not known.
ALTER TABLE tenant_epochs ADD COLUMN flags jsonb;
