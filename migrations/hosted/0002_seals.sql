-- Which tokens open a hosted tenant that is closed, as its store had them when it closed: so that a stranger who knows
-- its id gets nothing opened. A seal holds only while `files` is what the store's file looks like; null: broken.
CREATE TABLE tenant_seals (
  tenant_id TEXT PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
  epoch     INTEGER NOT NULL,
  files     TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE tenant_tokens (
  tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  hash      TEXT NOT NULL,
  PRIMARY KEY (tenant_id, hash)
) STRICT, WITHOUT ROWID;
