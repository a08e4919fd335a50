import assert from "node:assert/strict";
import { test } from "node:test";
import { silenceWrite } from "../../../src/core/quiet/silence.ts";
import { createSilence } from "../../../src/core/quiet/silences.ts";
import { writeTime } from "../../../src/records/config-file/written-time.ts";
import { step, testPlane } from "../../support/plane.ts";

test("a schedule and a silence in a zone that this program doesn't know keep no event out, and no page", async (t) => {
  const plane = testPlane();
  t.after(() => plane.close());
  const { store } = plane.tenant;
  for (const name of ["ann", "bob"]) plane.account(name);
  const turns = { rotation_start: plane.start - 86_400, shift_minutes: 1440, restriction: null };
  plane.schedule("primary", [{ name: "daily", participants: ["bob", "ann"], ...turns }]);
  plane.rule({ escalations: [step(0, [], { schedules: ["primary"] })] });
  const hours = { starts_at: plane.start - 3600, ends_at: plane.start + 3600 };
  const repeats = { repeat: "daily", repeat_until: plane.start + 7 * 86_400 };
  const write = silenceWrite.parse({
    match: {},
    all: true,
    reason: "nights",
    ...hours,
    ...repeats,
  });
  store.write((tx) => {
    createSilence(tx, { write, createdBy: "ann" });
    tx.sql("UPDATE silences SET body = json_set(body, '$.timezone', 'Europe/Atlantis')").run();
    tx.sql("UPDATE schedules SET timezone = 'Europe/Atlantis'").run();
  });
  await plane.fire();
  await plane.minutes(1);
  assert.deepEqual(plane.events("alert.escalated")[0]?.accounts, ["ann"]);
  // In a configuration file that is written out, too.
  assert.equal(writeTime(plane.start, "Europe/Atlantis"), plane.start);
});
