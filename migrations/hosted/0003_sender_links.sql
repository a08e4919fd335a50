-- Which hosted tenant a sender's short token or a heartbeat's address leads to: neither names its tenant. It follows the
-- tenants' stores: written after each change there, and anew whenever one opens.
CREATE TABLE sender_links (
  hash      TEXT NOT NULL,
  tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  added_at  INTEGER NOT NULL,
  PRIMARY KEY (hash, tenant_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sender_links_tenant ON sender_links (tenant_id);

-- Those that are closed now are opened once, which writes down what leads to them.
UPDATE tenant_seals SET files = NULL;
