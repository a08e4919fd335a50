-- Which ways in there are is said by the program alone: a new one needs no new table. A session remembers the passkey that it
-- came in by, whose removal ends it.
CREATE TABLE passkeys (
  id           TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name         TEXT NOT NULL,
  -- base64url, as browsers name it. Neither it nor the public key opens anything: what signs stays with the person.
  credential   TEXT NOT NULL UNIQUE,
  public_key   TEXT NOT NULL,
  -- The host name that it was made for.
  rp_id        TEXT NOT NULL,
  -- How often it says that it was used; 0 where it doesn't count.
  counter      INTEGER NOT NULL,
  transports   TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER,
  -- When its counter went back, so that there may be a copy of it.
  doubted_at   INTEGER
) STRICT;
CREATE INDEX passkeys_account ON passkeys (account_id);

CREATE TABLE sessions_anew (
  id           TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  hash         TEXT NOT NULL UNIQUE,
  method       TEXT NOT NULL,
  key_id       TEXT REFERENCES api_keys (id) ON DELETE CASCADE,
  passkey_id   TEXT REFERENCES passkeys (id) ON DELETE SET NULL,
  created_at   INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  address      TEXT NOT NULL,
  agent        TEXT NOT NULL
) STRICT;
INSERT INTO sessions_anew
  SELECT id, account_id, hash, method, key_id, NULL, created_at, last_seen_at, expires_at, address, agent FROM sessions;
DROP TABLE sessions;
ALTER TABLE sessions_anew RENAME TO sessions;
CREATE INDEX sessions_account ON sessions (account_id);
CREATE INDEX sessions_key ON sessions (key_id) WHERE key_id IS NOT NULL;
CREATE INDEX sessions_passkey ON sessions (passkey_id) WHERE passkey_id IS NOT NULL;
CREATE INDEX sessions_expires ON sessions (expires_at);

-- Wrong passwords of the last quarter of an hour, so that a restart gives nobody new tries. `who`: the email's hash, also of one
-- that nobody has. `times`: Unix seconds, a JSON list.
CREATE TABLE wrong_tries (
  who     TEXT PRIMARY KEY,
  times   TEXT NOT NULL,
  last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX wrong_tries_last ON wrong_tries (last_at);
