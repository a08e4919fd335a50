-- Ways to reach a person, what serves them, and the pages that are on their way. Addresses and credentials are sealed.
CREATE TABLE gateways (
  id         TEXT PRIMARY KEY,
  url        TEXT NOT NULL,
  sealed     TEXT NOT NULL,
  last_ok_at INTEGER,
  last_error TEXT,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- sent_ms: when a message last left for it; what comes soon after goes as one. code_*: the code that proves it.
CREATE TABLE contacts (
  id            TEXT PRIMARY KEY,
  account_id    TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  kind          TEXT NOT NULL,
  label         TEXT NOT NULL,
  shown         TEXT NOT NULL,
  sealed        TEXT NOT NULL,
  state         TEXT NOT NULL CHECK (state IN ('unverified', 'verified', 'failing', 'off')),
  code_hash     TEXT,
  code_until    INTEGER,
  code_tries    INTEGER NOT NULL DEFAULT 0,
  verified_at   INTEGER,
  sent_ms       INTEGER,
  last_ok_at    INTEGER,
  failures      INTEGER NOT NULL DEFAULT 0,
  last_error    TEXT,
  created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX contacts_account ON contacts (account_id, created_at, id);

CREATE TABLE notify_rules (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  rules      TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One alert to one contact. due_ms: when the person's rules want it; handle: stands for its capability where room is short;
-- sent_with: the row whose message named it, too; ref: what the service calls the message.
CREATE TABLE pages (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  contact_id      TEXT NOT NULL,
  account_id      TEXT NOT NULL,
  alert_id        INTEGER NOT NULL,
  event_row       INTEGER NOT NULL,
  event           TEXT NOT NULL,
  handle          TEXT NOT NULL UNIQUE,
  status          TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'withdrawn')),
  outcome         TEXT,
  attempts        INTEGER NOT NULL DEFAULT 0,
  due_ms          INTEGER NOT NULL,
  next_attempt_ms INTEGER,
  sent_with       INTEGER,
  ref             TEXT,
  last_error      TEXT,
  created_at      INTEGER NOT NULL,
  finished_at     INTEGER
) STRICT;
CREATE INDEX pages_pending ON pages (contact_id, id) WHERE status = 'pending';
CREATE INDEX pages_next ON pages (next_attempt_ms) WHERE status = 'pending';
CREATE INDEX pages_alert ON pages (alert_id);
CREATE INDEX pages_finished ON pages (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX pages_ref ON pages (ref) WHERE ref IS NOT NULL;
