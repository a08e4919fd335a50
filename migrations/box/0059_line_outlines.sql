-- What lines of one template have in common, once for a block of lines: such a line keeps only what differs.
-- A line's outline is the one of its block whose id has that remainder by 1,024; null: the line is whole.
CREATE TABLE line_outlines (
  id         INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL,
  outline    TEXT NOT NULL
) STRICT;
ALTER TABLE log_lines ADD COLUMN outline INTEGER;
