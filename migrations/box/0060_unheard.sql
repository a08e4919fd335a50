-- When the fallback is paged unless a page of the alert has got through by then.
ALTER TABLE alerts ADD COLUMN unheard_at INTEGER;
