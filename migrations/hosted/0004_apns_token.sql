-- The provider token that APNs is shown: it counts how many it sees, so a restart goes on with the one there is.
CREATE TABLE apns_tokens (
  key_id TEXT PRIMARY KEY,
  sealed TEXT NOT NULL,
  iat    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
