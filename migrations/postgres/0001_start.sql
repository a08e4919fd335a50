-- least: 1
-- The registry of the hosted role on PostgreSQL, as migrations/hosted has it for SQLite. Times that the database makes
-- are timestamptz; whole numbers are Unix seconds, or milliseconds where a name ends in _ms: those are others' clocks.
-- The first line of each file: the oldest program that may serve when it is applied, by how many files that one knows.

-- `schema`: how many files were applied. `least`: see above. The rest are moments in seconds.
CREATE TABLE IF NOT EXISTS meta (
  key   text PRIMARY KEY,
  value bigint NOT NULL
);

CREATE TABLE accounts (
  id           text PRIMARY KEY,
  email        text NOT NULL,
  email_folded text NOT NULL UNIQUE,
  created_at   timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE sessions (
  hash         text PRIMARY KEY,
  account_id   text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  created_at   timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sessions_account ON sessions (account_id);
CREATE INDEX sessions_last_used ON sessions (last_used_at);
CREATE INDEX sessions_created ON sessions (created_at);

-- box_stamp is the time of what is known of the box's address: an older announcement changes nothing.
-- next_due_ms says when a hosted tenant's data plane must be woken; watch_seconds 0 is no watch.
CREATE TABLE tenants (
  id            text PRIMARY KEY,
  kind          text NOT NULL CHECK (kind IN ('box', 'hosted')),
  plan          text NOT NULL CHECK (plan IN ('free', 'pro')),
  owner_folded  text,
  box_url       text,
  box_tenant_id text,
  box_stamp     bigint NOT NULL DEFAULT 0,
  watch_seconds integer NOT NULL DEFAULT 300,
  next_due_ms   bigint,
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX tenants_due ON tenants (next_due_ms) WHERE next_due_ms IS NOT NULL;

CREATE TABLE memberships (
  tenant_id  text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  account_id text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  role       text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, account_id)
);
CREATE INDEX memberships_account ON memberships (account_id);

CREATE TABLE pairings (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id      text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  account_id     text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  box_account_id text NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now(),
  revoked_at     timestamptz
);
CREATE UNIQUE INDEX pairings_account ON pairings (tenant_id, account_id) WHERE revoked_at IS NULL;
CREATE UNIQUE INDEX pairings_box_account ON pairings (tenant_id, box_account_id) WHERE revoked_at IS NULL;
CREATE INDEX pairings_tenant ON pairings (tenant_id);

CREATE TABLE relay_keys (
  id         text PRIMARY KEY,
  tenant_id  text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  sealed     text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);
CREATE UNIQUE INDEX relay_keys_live ON relay_keys (tenant_id) WHERE revoked_at IS NULL;

CREATE TABLE devices (
  account_id      text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  token           text NOT NULL,
  platform        text NOT NULL,
  critical_alerts boolean NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  registered_at   timestamptz NOT NULL DEFAULT now(),
  set_aside_at    timestamptz,
  PRIMARY KEY (account_id, token)
);
CREATE INDEX devices_token ON devices (token);

-- One row a page (contract §7): under way while done_at is null and holder is not, devices is its answer. `reached`: the
-- devices that it has rung, so that a retry rings only the others. The hottest table: no reference is checked, since
-- tenants are never deleted, and rows have room to change where they are.
CREATE TABLE relay_claims (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id  text NOT NULL,
  alert_id   text NOT NULL,
  event      text NOT NULL,
  timestamp  bigint NOT NULL,
  holder     text,
  held_until timestamptz,
  reached    text[] NOT NULL DEFAULT '{}',
  devices    integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  done_at    timestamptz,
  UNIQUE (tenant_id, alert_id, event, timestamp)
) WITH (fillfactor = 80);
CREATE INDEX relay_claims_created ON relay_claims (created_at);

-- The push provider: one row or none
CREATE TABLE apns (
  id       integer PRIMARY KEY CHECK (id = 1),
  version  integer NOT NULL,
  key_id   text NOT NULL,
  team_id  text NOT NULL,
  topic    text NOT NULL,
  endpoint text NOT NULL,
  ca       text,
  sealed   text NOT NULL
);

-- The provider token that all nodes show; iat is what stands in it, in seconds.
CREATE TABLE apns_tokens (
  key_id text PRIMARY KEY,
  sealed text NOT NULL,
  iat    bigint NOT NULL
);

-- Boxes that have sent a heartbeat. planned: it said goodbye. owed: a page still to be sent, since owed_at. No index on
-- heard_at: every heartbeat would change it, and the look reads them all.
CREATE TABLE heartbeats (
  tenant_id    text PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
  heard_at     timestamptz NOT NULL DEFAULT now(),
  stamp        bigint NOT NULL,
  planned      boolean NOT NULL,
  silent_since timestamptz,
  owed         text CHECK (owed IN ('silent', 'back')),
  owed_at      timestamptz
) WITH (fillfactor = 50);
CREATE INDEX heartbeats_owed ON heartbeats (owed_at) WHERE owed IS NOT NULL;

-- When no node was alive: a tenant that is woken later learns here how much of its rest was no quiet.
CREATE TABLE outages (
  began_at timestamptz PRIMARY KEY,
  ended_at timestamptz NOT NULL
);

-- When any node was last alive: one row.
CREATE TABLE service (
  id       integer PRIMARY KEY CHECK (id = 1),
  alive_at timestamptz NOT NULL
);

-- Which hosted tenant's store holds a public report. A row may outlive its report: the store decides.
CREATE TABLE report_links (
  uuid      text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX report_links_tenant ON report_links (tenant_id);

-- Which tokens open a hosted tenant that is closed. A seal holds only while `files` is what the store's file looks
-- like; null: broken.
CREATE TABLE tenant_seals (
  tenant_id text PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
  epoch     bigint NOT NULL,
  files     text
);

CREATE TABLE tenant_tokens (
  tenant_id text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  hash      text NOT NULL,
  PRIMARY KEY (tenant_id, hash)
);

-- Which hosted tenant a sender's short token or a heartbeat's address leads to.
CREATE TABLE sender_links (
  hash      text NOT NULL,
  tenant_id text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  added_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (hash, tenant_id)
);
CREATE INDEX sender_links_tenant ON sender_links (tenant_id);

-- Who serves. alive_until is renewed; a row whose time is over is that of a node that is gone, or stands still.
CREATE TABLE nodes (
  id           text PRIMARY KEY,
  -- Minted at each start: tells a node's new process from its old one, and from another of the same name.
  run          text NOT NULL,
  url          text,
  version      text NOT NULL,
  store_schema integer NOT NULL,
  started_at   timestamptz NOT NULL DEFAULT now(),
  seen_at      timestamptz NOT NULL DEFAULT now(),
  alive_until  timestamptz NOT NULL,
  draining     boolean NOT NULL DEFAULT false,
  tenants_open integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- What one node does for all: whose it is, until when, and when it was last done.
CREATE TABLE jobs (
  name   text PRIMARY KEY,
  node   text,
  until  timestamptz,
  ran_at timestamptz
);
INSERT INTO jobs (name) VALUES ('silence'), ('purge');
