-- least: 1
-- Whether the copy of a machine that stands by is up to date: whoever leaves a box waits for one that is. null: it doesn't
-- say, or it couldn't serve the box.
ALTER TABLE nodes ADD COLUMN is_fresh boolean;
