-- Links to the wall: whoever has one sees which alerts are open and who is on call, and nothing else.
CREATE TABLE walls (
  id           TEXT PRIMARY KEY,
  name         TEXT NOT NULL,
  messages     INTEGER NOT NULL,
  hash         TEXT NOT NULL UNIQUE,
  account_id   TEXT REFERENCES accounts (id) ON DELETE SET NULL,
  created_at   INTEGER NOT NULL,
  last_seen_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX walls_account ON walls (account_id);
