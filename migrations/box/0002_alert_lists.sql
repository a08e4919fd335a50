-- Pages of alerts by state and by rule, newest first, without reading the others.
CREATE INDEX alerts_state ON alerts (project_id, state, id);
CREATE INDEX alerts_rule ON alerts (project_id, rule, state, id);
