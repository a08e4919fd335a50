-- Two boxes with one key both page: a copy that was restored while the first one lives. Each start of a box has an id of
-- its own, so that two of them are heard by turns. `swaps`: how often the start heard before the last one came back.
ALTER TABLE heartbeats ADD COLUMN boot TEXT;
ALTER TABLE heartbeats ADD COLUMN former_boot TEXT;
ALTER TABLE heartbeats ADD COLUMN swaps INTEGER NOT NULL DEFAULT 0;
ALTER TABLE heartbeats ADD COLUMN swapped_at INTEGER;
ALTER TABLE heartbeats ADD COLUMN twin_owed_at INTEGER;
CREATE INDEX heartbeats_twins ON heartbeats (swapped_at) WHERE swaps >= 2;
CREATE INDEX heartbeats_twin_owed ON heartbeats (twin_owed_at) WHERE twin_owed_at IS NOT NULL;
