import assert from "node:assert/strict";
import { test } from "node:test";
import { httpDate, parseHttpDate } from "../../../src/ground/kit/http-date.ts";
import { handClock } from "../../support/clock.ts";

test("the present as a Date field, each second anew, reads back", () => {
  const clock = handClock(Date.UTC(2026, 0, 5, 9, 0, 0, 999));
  const date = httpDate(clock);
  assert.equal(date(), "Mon, 05 Jan 2026 09:00:00 GMT");
  clock.setWall(Date.UTC(2026, 0, 5, 9, 0, 1));
  assert.equal(date(), "Mon, 05 Jan 2026 09:00:01 GMT");
  assert.equal(parseHttpDate(date()), clock.now());
});

test("two digits of a year are of 1970 to 2069", () => {
  assert.equal(parseHttpDate("Tuesday, 01-Jan-69 00:00:00 GMT"), Date.UTC(2069, 0, 1));
  assert.equal(parseHttpDate("Thursday, 01-Jan-70 00:00:00 GMT"), 0);
});
