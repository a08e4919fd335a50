-- Advice that somebody doesn't want to see. until: Unix seconds.
CREATE TABLE advice_hidden (
  id    TEXT PRIMARY KEY,
  until INTEGER NOT NULL
) STRICT;
