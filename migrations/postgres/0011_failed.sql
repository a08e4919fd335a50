-- least: 1
-- Why a machine that stands by couldn't upgrade the box when it took it last: it may not be able to take it again. null: it
-- hasn't failed.
ALTER TABLE nodes ADD COLUMN failed text;
