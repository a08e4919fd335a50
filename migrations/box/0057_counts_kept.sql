-- The day (of Unix time) before which counts by the hour were deleted because they were old. 0: none were.
ALTER TABLE count_series ADD COLUMN kept_from INTEGER NOT NULL DEFAULT 0;
