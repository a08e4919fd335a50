-- What the matches that count towards an alert say about themselves, JSON; null: nothing.
ALTER TABLE window_hits ADD COLUMN said TEXT;
