-- What is due of one action: through executions_action each look read all that it ever ran.
CREATE INDEX executions_pending ON executions (action_id, id, next_attempt_ms) WHERE status = 'pending';
DROP INDEX executions_due;
