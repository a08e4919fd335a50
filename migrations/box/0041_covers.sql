-- When a schedule promises that somebody is on call: 'always', or 'hours', in which one of its layers covers.
ALTER TABLE schedules ADD COLUMN covers TEXT NOT NULL DEFAULT 'always';
