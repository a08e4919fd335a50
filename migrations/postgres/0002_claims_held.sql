-- least: 1
-- Whose holds a tenant has is asked of those that were taken lately, and not of two days. No settling writes to it: only
-- taking a hold does.
CREATE INDEX relay_claims_held ON relay_claims (held_until, tenant_id);
