-- The colour that a person's initials stand on, 1 to 8: given once, the least used one, and never changed.
ALTER TABLE accounts ADD COLUMN hue INTEGER NOT NULL DEFAULT 0;

UPDATE accounts SET hue = 1 + (n % 8) FROM
  (SELECT id AS of_id, row_number() OVER (ORDER BY created_at, id) - 1 AS n FROM accounts)
  WHERE id = of_id;

-- By a trigger, since people come in by many ways: a form, a pairing, a provider, a text that is applied.
CREATE TRIGGER account_hue AFTER INSERT ON accounts WHEN NEW.hue = 0 BEGIN
  UPDATE accounts SET hue = (
    SELECT h.column1 FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8)) h
      LEFT JOIN accounts a ON a.hue = h.column1
      GROUP BY h.column1 ORDER BY count(a.id), h.column1 LIMIT 1)
    WHERE id = NEW.id;
END;
