-- least: 1
-- Where the other machines of a box reach the one that took it: HOST:PORT. null: they don't.
ALTER TABLE tenant_epochs ADD COLUMN address text;
