-- hand_over: whoever takes over a schedule and whoever hands it over get a note. Those that stand keep silent.
ALTER TABLE schedules ADD COLUMN hand_over INTEGER NOT NULL DEFAULT 0;

-- The hand-overs that people were told of: when, and who took over; '' where nobody did.
CREATE TABLE hand_overs (
  schedule_id TEXT NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
  at          INTEGER NOT NULL,
  to_id       TEXT NOT NULL,
  PRIMARY KEY (schedule_id, at, to_id)
) STRICT, WITHOUT ROWID;
