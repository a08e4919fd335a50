-- What its owner calls a key; and codes that set an account's password instead of making one.
ALTER TABLE api_keys ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE pair_codes ADD COLUMN account_id TEXT REFERENCES accounts (id) ON DELETE CASCADE;
