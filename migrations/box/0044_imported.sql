-- From where an import made a part of a project, as 'system:id', and how it wrote it (JSON), so that the next import
-- tells what a person changed since.
ALTER TABLE sources ADD COLUMN imported_from TEXT;
ALTER TABLE sources ADD COLUMN imported_as TEXT;
ALTER TABLE schedules ADD COLUMN imported_from TEXT;
ALTER TABLE schedules ADD COLUMN imported_as TEXT;
ALTER TABLE rules ADD COLUMN imported_from TEXT;
ALTER TABLE rules ADD COLUMN imported_as TEXT;
ALTER TABLE integrations ADD COLUMN imported_from TEXT;
ALTER TABLE integrations ADD COLUMN imported_as TEXT;
ALTER TABLE heartbeats ADD COLUMN imported_from TEXT;
ALTER TABLE heartbeats ADD COLUMN imported_as TEXT;
