-- The last attempts at a delivery, and the request as the latest sent it: JSON, without any credential.
ALTER TABLE deliveries ADD COLUMN tries TEXT;
ALTER TABLE deliveries ADD COLUMN request TEXT;
