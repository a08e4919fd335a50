-- What an alert's events say about themselves, JSON; null: nothing, or nothing is known, as of alerts from before.
ALTER TABLE alerts ADD COLUMN labels TEXT;
ALTER TABLE alerts ADD COLUMN varied TEXT;
ALTER TABLE alerts ADD COLUMN varied_more TEXT;
-- What its sender calls it; null: the first line of its last message.
ALTER TABLE alerts ADD COLUMN title TEXT;
