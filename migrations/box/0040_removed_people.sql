-- Whose account was removed, by a hash of their address: a provider's domain alone doesn't let them in again.
CREATE TABLE removed_people (
  email_hash TEXT PRIMARY KEY,
  removed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
