-- The registry of the hosted role: who pages whose phones. Times are Unix seconds unless a name ends in _ms.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE accounts (
  id           TEXT PRIMARY KEY,
  email        TEXT NOT NULL,
  email_folded TEXT NOT NULL UNIQUE,
  created_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  hash         TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_last_used ON sessions (last_used_at);

-- box_stamp is the time of what is known of the box's address: an older announcement changes nothing.
-- next_due_ms says when a hosted tenant's data plane must be woken; watch_seconds 0 is no watch.
CREATE TABLE tenants (
  id            TEXT PRIMARY KEY,
  kind          TEXT NOT NULL CHECK (kind IN ('box', 'hosted')),
  plan          TEXT NOT NULL CHECK (plan IN ('free', 'pro')),
  owner_folded  TEXT,
  box_url       TEXT,
  box_tenant_id TEXT,
  box_stamp     INTEGER NOT NULL DEFAULT 0,
  watch_seconds INTEGER NOT NULL DEFAULT 300,
  next_due_ms   INTEGER,
  created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tenants_due ON tenants (next_due_ms) WHERE next_due_ms IS NOT NULL;

CREATE TABLE memberships (
  tenant_id  TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  role       TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, account_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE pairings (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id      TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  account_id     TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  box_account_id TEXT NOT NULL,
  created_at     INTEGER NOT NULL,
  revoked_at     INTEGER
) STRICT;
CREATE UNIQUE INDEX pairings_account ON pairings (tenant_id, account_id) WHERE revoked_at IS NULL;
CREATE UNIQUE INDEX pairings_box_account ON pairings (tenant_id, box_account_id) WHERE revoked_at IS NULL;
CREATE INDEX pairings_tenant ON pairings (tenant_id);

CREATE TABLE relay_keys (
  id         TEXT PRIMARY KEY,
  tenant_id  TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  sealed     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX relay_keys_live ON relay_keys (tenant_id) WHERE revoked_at IS NULL;

CREATE TABLE devices (
  account_id      TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  token           TEXT NOT NULL,
  platform        TEXT NOT NULL,
  critical_alerts INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  registered_ms   INTEGER NOT NULL,
  set_aside_ms    INTEGER,
  PRIMARY KEY (account_id, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX devices_token ON devices (token);

-- One row a page (contract §7): under way while done_at is null and holder is not, devices is its answer.
CREATE TABLE relay_claims (
  id         INTEGER PRIMARY KEY,
  tenant_id  TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  alert_id   TEXT NOT NULL,
  event      TEXT NOT NULL,
  timestamp  INTEGER NOT NULL,
  holder     TEXT,
  taken_ms   INTEGER NOT NULL,
  devices    INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  done_at    INTEGER,
  UNIQUE (tenant_id, alert_id, event, timestamp)
) STRICT;
CREATE INDEX relay_claims_created ON relay_claims (created_at);

-- The devices that a page has reached, so that a retry rings only the others
CREATE TABLE relay_pushes (
  claim_id INTEGER NOT NULL REFERENCES relay_claims (id) ON DELETE CASCADE,
  token    TEXT NOT NULL,
  PRIMARY KEY (claim_id, token)
) STRICT, WITHOUT ROWID;

-- The push provider: one row or none
CREATE TABLE apns (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  version  INTEGER NOT NULL,
  key_id   TEXT NOT NULL,
  team_id  TEXT NOT NULL,
  topic    TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  ca       TEXT,
  sealed   TEXT NOT NULL
) STRICT;

-- Boxes that have sent a heartbeat. planned: it said goodbye. owed: a page still to be sent, since owed_at.
CREATE TABLE heartbeats (
  tenant_id    TEXT PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
  heard_at     INTEGER NOT NULL,
  stamp        INTEGER NOT NULL,
  planned      INTEGER NOT NULL,
  silent_since INTEGER,
  owed         TEXT CHECK (owed IN ('silent', 'back')),
  owed_at      INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX heartbeats_owed ON heartbeats (owed_at) WHERE owed IS NOT NULL;

-- When the service was down: a tenant that is woken later learns here how much of its rest was no quiet.
CREATE TABLE outages (
  began_at INTEGER PRIMARY KEY,
  ended_at INTEGER NOT NULL
) STRICT;

-- Which hosted tenant's store holds a public report. A row may outlive its report: the store decides.
CREATE TABLE report_links (
  uuid      TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX report_links_tenant ON report_links (tenant_id);
