-- From where an import made a ladder, as 0044 has it for the parts of a project, and which project's import it was.
ALTER TABLE ladders ADD COLUMN imported_from TEXT;
ALTER TABLE ladders ADD COLUMN imported_as TEXT;
ALTER TABLE ladders ADD COLUMN imported_in INTEGER REFERENCES projects (id) ON DELETE SET NULL;
