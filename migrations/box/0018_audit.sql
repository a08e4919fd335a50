-- Who changed what: written in the transaction of the change, kept 400 days (contract §28). target_id is the row's own id,
-- which a new name doesn't change; project and target_name are as they were then. changes: JSON, secrets as "changed".
CREATE TABLE audit (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  at          INTEGER NOT NULL,
  account_id  TEXT,
  via         TEXT NOT NULL,
  hint        TEXT NOT NULL,
  address     TEXT NOT NULL,
  verb        TEXT NOT NULL,
  kind        TEXT NOT NULL,
  target_id   TEXT NOT NULL,
  target_name TEXT NOT NULL,
  project     TEXT,
  changes     TEXT NOT NULL
) STRICT;
CREATE INDEX audit_account ON audit (account_id, id);
CREATE INDEX audit_target ON audit (kind, target_id, id);
