-- What a sender signs its requests with, beside the token in its address; sealed.
ALTER TABLE sources ADD COLUMN sealed_secret TEXT;
