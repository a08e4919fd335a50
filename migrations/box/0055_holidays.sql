-- Days by name that a layer of a schedule may leave out, or take alone. dates: JSON [{"date","name"}], by date.
CREATE TABLE holidays (
  name       TEXT PRIMARY KEY,
  dates      TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
