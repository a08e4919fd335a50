-- Keys that senders have of an earlier tool: further ways to a source, so that only the host name changes at the sender.
CREATE TABLE source_keys (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  hash      TEXT NOT NULL UNIQUE,
  added_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX source_keys_source ON source_keys (source_id);
