-- What senders say was changed (a deploy, a switch): the latest of a project are told to alerts that open soon after.
CREATE TABLE changes (
  id         INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  at         INTEGER NOT NULL,
  source     TEXT NOT NULL,
  message    TEXT NOT NULL,
  href       TEXT
) STRICT;
CREATE INDEX changes_project ON changes (project_id, at);
