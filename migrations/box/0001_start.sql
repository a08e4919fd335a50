-- A tenant's whole data plane (contract §12). Times are Unix seconds unless a name ends in _ms.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- People (contract §3)
CREATE TABLE accounts (
  id            TEXT PRIMARY KEY,
  email         TEXT NOT NULL,
  email_folded  TEXT NOT NULL UNIQUE,
  display_name  TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  role          TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  id           TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  hash         TEXT NOT NULL UNIQUE,
  hint         TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_account ON api_keys (account_id);

-- issued_by is null where the local operator issued the code
CREATE TABLE pair_codes (
  id         TEXT PRIMARY KEY,
  hash       TEXT NOT NULL UNIQUE,
  role       TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  email      TEXT,
  issued_by  TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at    INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE pair_receipts (
  hash       TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at    INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE devices (
  account_id      TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  token           TEXT NOT NULL,
  platform        TEXT NOT NULL,
  critical_alerts INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  last_seen_at    INTEGER NOT NULL,
  PRIMARY KEY (account_id, token)
) STRICT, WITHOUT ROWID;

-- Configuration
CREATE TABLE projects (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL UNIQUE,
  version    INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sources (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id  INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name        TEXT NOT NULL,
  token_hash  TEXT NOT NULL UNIQUE,
  retain_logs INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  UNIQUE (project_id, name)
) STRICT;

-- body is the rule as it is read, without name and times (JSON)
CREATE TABLE rules (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name       TEXT NOT NULL,
  body       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (project_id, name)
) STRICT;

CREATE TABLE schedules (
  id         TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name       TEXT NOT NULL,
  timezone   TEXT NOT NULL,
  layers     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (project_id, name)
) STRICT, WITHOUT ROWID;

-- rowid is the order of creation: of two overrides the newer wins
CREATE TABLE overrides (
  id          TEXT NOT NULL UNIQUE,
  schedule_id TEXT NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
  account_id  TEXT NOT NULL,
  starts_at   INTEGER NOT NULL,
  ends_at     INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  created_by  TEXT NOT NULL
) STRICT;
CREATE INDEX overrides_schedule ON overrides (schedule_id);

-- Templates: one row a masked shape; an alias points at an older one (contract §4)
CREATE TABLE templates (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  id         TEXT NOT NULL,
  shape      TEXT NOT NULL,
  text       TEXT NOT NULL,
  alias_of   TEXT,
  state      TEXT NOT NULL,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;

-- Log lines: ids are handed out by the writer, so no index but the row id is written.
-- log_blocks says which 1,024-line blocks hold a project's or a template's lines ('' = any template).
CREATE TABLE log_lines (
  id          INTEGER PRIMARY KEY,
  project_id  INTEGER NOT NULL,
  source_id   INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  level       INTEGER NOT NULL,
  template_id TEXT NOT NULL,
  message     TEXT NOT NULL,
  keys        TEXT,
  tags        TEXT
) STRICT;

CREATE TABLE log_blocks (
  project_id  INTEGER NOT NULL,
  template_id TEXT NOT NULL,
  block       INTEGER NOT NULL,
  PRIMARY KEY (project_id, template_id, block)
) STRICT, WITHOUT ROWID;
CREATE INDEX log_blocks_block ON log_blocks (block);

-- Matches that have not fired yet, kept while their window is open (contract §5, fire_after)
CREATE TABLE window_hits (
  id        INTEGER PRIMARY KEY,
  rule_id   INTEGER NOT NULL REFERENCES rules (id) ON DELETE CASCADE,
  alert_key TEXT NOT NULL,
  at        INTEGER NOT NULL,
  source_id INTEGER NOT NULL,
  n         INTEGER NOT NULL,
  level     INTEGER NOT NULL
) STRICT;
CREATE INDEX window_hits_rule ON window_hits (rule_id, alert_key);

-- Alerts. due_at is the earliest of the timed parts and may lie too early, never too late.
-- ladder_from is the opening, moved with each jump of the clock; step counts the steps that had their turn.
CREATE TABLE alerts (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id       INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  rule_id          INTEGER NOT NULL,
  rule             TEXT NOT NULL,
  alert_key        TEXT NOT NULL,
  state            TEXT NOT NULL CHECK (state IN ('open', 'acknowledged', 'resolved')),
  template_id      TEXT NOT NULL,
  template         TEXT NOT NULL,
  level            INTEGER NOT NULL,
  count            INTEGER NOT NULL,
  first_seen       INTEGER NOT NULL,
  last_seen        INTEGER NOT NULL,
  last_message     TEXT NOT NULL,
  identifiers      TEXT NOT NULL,
  investigate      INTEGER NOT NULL,
  escalation_level INTEGER NOT NULL DEFAULT 0,
  page_accounts    TEXT NOT NULL DEFAULT '[]',
  updated_seq      INTEGER NOT NULL,
  opened_at        INTEGER NOT NULL,
  acked_at         INTEGER,
  resolved_at      INTEGER,
  ladder_from      INTEGER NOT NULL,
  step             INTEGER NOT NULL DEFAULT 0,
  step_at          INTEGER,
  repeat_at        INTEGER,
  renotify_at      INTEGER,
  renotified       INTEGER NOT NULL DEFAULT 0,
  quiet_at         INTEGER,
  due_at           INTEGER
) STRICT;
CREATE UNIQUE INDEX alerts_key ON alerts (alert_key) WHERE state <> 'resolved';
CREATE INDEX alerts_due ON alerts (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX alerts_seq ON alerts (updated_seq);
CREATE INDEX alerts_project ON alerts (project_id, id);
CREATE INDEX alerts_standing ON alerts (project_id, rule_id) WHERE state <> 'resolved';
CREATE INDEX alerts_resolved ON alerts (resolved_at) WHERE resolved_at IS NOT NULL;

CREATE TABLE timeline (
  id         INTEGER PRIMARY KEY,
  alert_id   INTEGER NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
  at         INTEGER NOT NULL,
  kind       TEXT NOT NULL,
  account_id TEXT,
  detail     TEXT NOT NULL
) STRICT;
CREATE INDEX timeline_alert ON timeline (alert_id);

-- The outbox (contract §6). An event's body is fixed when it is committed. event_id is 128 random bits that
-- nothing is looked up by: an index on it would cost a random page for each event.
CREATE TABLE events (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id   TEXT NOT NULL,
  project_id INTEGER,
  alert_id   INTEGER,
  event      TEXT NOT NULL,
  timestamp  INTEGER NOT NULL,
  body       TEXT NOT NULL,
  UNIQUE (alert_id, event, timestamp)
) STRICT;

CREATE TABLE integrations (
  id                   TEXT PRIMARY KEY,
  project_id           INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name                 TEXT NOT NULL,
  type                 TEXT NOT NULL CHECK (type IN ('webhook', 'telegram', 'slack', 'apns')),
  url                  TEXT NOT NULL,
  sealed               TEXT,
  enabled              INTEGER NOT NULL,
  event_filter         TEXT NOT NULL,
  relay                INTEGER NOT NULL DEFAULT 0,
  consecutive_failures INTEGER NOT NULL DEFAULT 0,
  failing_since        INTEGER,
  last_error           TEXT,
  created_at           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX integrations_project ON integrations (project_id);

CREATE TABLE deliveries (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  integration_id  TEXT NOT NULL,
  event_row       INTEGER NOT NULL,
  alert_id        INTEGER,
  event           TEXT NOT NULL,
  status          TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'dropped')),
  attempts        INTEGER NOT NULL DEFAULT 0,
  next_attempt_ms INTEGER,
  signed_at       INTEGER,
  last_error      TEXT,
  created_at      INTEGER NOT NULL,
  finished_at     INTEGER
) STRICT;
CREATE INDEX deliveries_pending ON deliveries (integration_id, id) WHERE status = 'pending';
CREATE INDEX deliveries_probe ON deliveries (integration_id, attempts, id) WHERE status = 'pending';
CREATE INDEX deliveries_integration ON deliveries (integration_id, id);
CREATE INDEX deliveries_alert ON deliveries (alert_id);
CREATE INDEX deliveries_finished ON deliveries (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE actions (
  id              TEXT PRIMARY KEY,
  project_id      INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name            TEXT NOT NULL,
  method          TEXT NOT NULL,
  url             TEXT NOT NULL,
  header_keys     TEXT NOT NULL,
  sealed_headers  TEXT,
  sealed_body     TEXT,
  enabled         INTEGER NOT NULL,
  event_filter    TEXT NOT NULL,
  timeout_seconds INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  UNIQUE (project_id, name)
) STRICT, WITHOUT ROWID;

-- Execution rows outlive their action (contract §15, Actions)
CREATE TABLE executions (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  action_id       TEXT NOT NULL,
  project_id      INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  event_row       INTEGER,
  alert_id        INTEGER,
  event           TEXT NOT NULL,
  status          TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'timed_out')),
  attempts        INTEGER NOT NULL DEFAULT 0,
  next_attempt_ms INTEGER,
  status_code     INTEGER,
  duration_ms     INTEGER,
  response_prefix TEXT NOT NULL DEFAULT '',
  error           TEXT NOT NULL DEFAULT '',
  executed_at     INTEGER,
  created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX executions_due ON executions (next_attempt_ms) WHERE status = 'pending';
CREATE INDEX executions_action ON executions (action_id, id);
CREATE INDEX executions_created ON executions (created_at);

-- The hosted relay this box pages through: one row or none (contract §15, Pairing and relay)
CREATE TABLE relay (
  id               INTEGER PRIMARY KEY CHECK (id = 1),
  relay_url        TEXT NOT NULL,
  sealed_secret    TEXT NOT NULL,
  hosted_tenant_id TEXT,
  box_public_url   TEXT,
  announce_at      INTEGER
) STRICT;

-- Incident reports (contract §8)
CREATE TABLE reports (
  id               TEXT PRIMARY KEY,
  project_id       INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  title            TEXT NOT NULL,
  description      TEXT NOT NULL,
  alert_id         INTEGER,
  password_hash    TEXT,
  password_version INTEGER NOT NULL DEFAULT 0,
  public_uuid      TEXT NOT NULL UNIQUE,
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  created_by       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX reports_project ON reports (project_id);

CREATE TABLE report_entries (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT NOT NULL UNIQUE,
  report_id    TEXT NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
  title        TEXT NOT NULL,
  entry_type   TEXT NOT NULL CHECK (entry_type IN ('update', 'analysis', 'resolution')),
  content_md   TEXT NOT NULL,
  content_html TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  created_by   TEXT NOT NULL
) STRICT;
CREATE INDEX report_entries_report ON report_entries (report_id);
