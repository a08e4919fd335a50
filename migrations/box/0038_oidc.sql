-- Who else says who somebody is (OpenID Connect). issuer: as it names itself; sealed_secret: NULL where the client has none;
-- scopes, domains: JSON lists; roles: a JSON object, group → role, {} where roles are given here.
CREATE TABLE sign_in_providers (
  id            TEXT PRIMARY KEY,
  name          TEXT NOT NULL,
  issuer        TEXT NOT NULL,
  client_id     TEXT NOT NULL,
  sealed_secret TEXT,
  scopes        TEXT NOT NULL,
  groups_claim  TEXT NOT NULL,
  roles         TEXT NOT NULL,
  domains       TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;

-- Whose account somebody's identity there is. It stays without one where the account was removed, so that who was removed doesn't
-- come back by themselves.
CREATE TABLE oidc_links (
  id           TEXT PRIMARY KEY,
  issuer       TEXT NOT NULL,
  subject      TEXT NOT NULL,
  account_id   TEXT REFERENCES accounts (id) ON DELETE SET NULL,
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  UNIQUE (issuer, subject)
) STRICT;
CREATE INDEX oidc_links_account ON oidc_links (account_id);

-- Without a row passwords open sessions.
CREATE TABLE sign_in (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  password INTEGER NOT NULL
) STRICT;

-- What the provider was called that a session came in by.
ALTER TABLE sessions ADD COLUMN provider TEXT;
