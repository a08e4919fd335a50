-- Whether devices show whoever's shift begins anything, tried before the night is. starts_at: when the shift begins;
-- before_id: who had it until then; asked_at: when they were pushed; due_at: until when one of their devices may say that it showed
-- it, NULL once that is settled; seen_at: when one did.
CREATE TABLE shift_checks (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  schedule_id TEXT NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
  account_id  TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  before_id   TEXT,
  starts_at   INTEGER NOT NULL,
  ends_at     INTEGER,
  asked_at    INTEGER NOT NULL,
  due_at      INTEGER,
  seen_at     INTEGER,
  UNIQUE (schedule_id, account_id, starts_at)
) STRICT;
CREATE INDEX shift_checks_due ON shift_checks (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX shift_checks_account ON shift_checks (account_id);

-- check_at: when its shifts are looked at next; 0: now, since it is new or was changed.
ALTER TABLE schedules ADD COLUMN shift_check INTEGER NOT NULL DEFAULT 1;
ALTER TABLE schedules ADD COLUMN check_at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX schedules_check ON schedules (check_at);

ALTER TABLE pages ADD COLUMN shift_check INTEGER;
