-- Who is signed in with a browser: what its cookie holds is kept as a hash. expires_at moves with last_seen_at. What came
-- of a key goes with it.
CREATE TABLE sessions (
  id           TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  hash         TEXT NOT NULL UNIQUE,
  method       TEXT NOT NULL CHECK (method IN ('password', 'key', 'pairing', 'passkey', 'phone')),
  key_id       TEXT REFERENCES api_keys (id) ON DELETE CASCADE,
  created_at   INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  address      TEXT NOT NULL,
  agent        TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_account ON sessions (account_id);
CREATE INDEX sessions_key ON sessions (key_id) WHERE key_id IS NOT NULL;
CREATE INDEX sessions_expires ON sessions (expires_at);
-- When somebody last signed in with a browser: an owner who can needs no key.
ALTER TABLE accounts ADD COLUMN signed_in_at INTEGER;
