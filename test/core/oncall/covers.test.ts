import assert from "node:assert/strict";
import { test } from "node:test";
import { preview } from "../../../src/core/oncall/rotation.ts";
import type { Layer, Schedule } from "../../../src/core/oncall/schedule.ts";
import { testBox } from "../../support/box.ts";
import { box as run } from "../../support/command-line.ts";
import { signedIn } from "../../support/console.ts";
import fc from "../../support/property.ts";
import { settle } from "../../support/until.ts";

const HOUR = 3600;
/** Monday, 5 January 2026, 00:00 in UTC. */
const MONDAY = 1_767_571_200;
const hours = (start: number, end: number, days: number[] = []) => ({
  days,
  start_minute: start * 60,
  end_minute: end * 60,
});
const layer = (name: string, restriction: Layer["restriction"], from = 0): Layer => ({
  name,
  participants: ["ann"],
  rotation_start: from,
  shift_minutes: 1440,
  restriction,
});
const gapsOf = (schedule: Partial<Schedule>, days = 7) =>
  preview(
    { timezone: "UTC", layers: [], overrides: [], holidays: new Map(), ...schedule },
    MONDAY,
    MONDAY + days * 24 * HOUR,
  ).gaps.map(({ starts_at, ends_at }) => [(starts_at - MONDAY) / HOUR, (ends_at - MONDAY) / HOUR]);

test("a schedule that covers hours has gaps only in what its layers' restrictions span", () => {
  const office = layer("office", hours(9, 17, [1, 2, 3, 4, 5]));
  assert.equal(gapsOf({ layers: [office] }).length, 6);
  const covers = "hours";
  assert.deepEqual(gapsOf({ layers: [office], covers }), []);
  const late = layer("late", hours(9, 17, [1, 2, 3, 4, 5]), MONDAY + 34 * HOUR);
  assert.deepEqual(gapsOf({ layers: [late], covers }), [
    [9, 17],
    [33, 34],
  ]);
  assert.deepEqual(
    gapsOf({ layers: [late, layer("from Wednesday", null, MONDAY + 48 * HOUR)], covers }),
    [
      [0, 34],
      [41, 48],
    ],
  );
  assert.deepEqual(
    gapsOf({ covers }, 1),
    [[0, 24]],
    "without layers nothing is known of its hours",
  );
});

test("gaps by promise are those of always, cut to the hours of any layer", () => {
  const restriction = fc.option(
    fc
      .record({ start: fc.nat(23), end: fc.nat(23), days: fc.uniqueArray(fc.nat(6)) })
      .map(({ start, end, days }) => hours(start, end, days)),
  );
  const turns = fc.array(fc.constantFrom("ann", null), { minLength: 1, maxLength: 3 });
  const layers = fc.array(fc.tuple(restriction, fc.nat(200), turns), {
    minLength: 1,
    maxLength: 3,
  });
  fc.assert(
    fc.property(layers, (of) => {
      const all = of.map(([own, from, participants], i) => ({
        ...layer(`l${i}`, own, MONDAY + from * HOUR),
        participants,
      }));
      // A turn of nobody takes nothing from what is promised.
      const open = all.map((one) => ({ ...one, participants: ["ann"], rotation_start: 0 }));
      const isIn = (gaps: number[][], hour: number) =>
        gaps.some(([from = 0, until = 0]) => from <= hour && hour < until);
      const [always, promised, unstaffed] = [
        gapsOf({ layers: all }),
        gapsOf({ layers: all, covers: "hours" }),
        gapsOf({ layers: open }),
      ];
      for (let hour = 0; hour < 168; hour++)
        assert.equal(isIn(promised, hour), isIn(always, hour) && !isIn(unstaffed, hour), `${hour}`);
    }),
  );
});

test("the promise goes by interface, file, form and pages; a write that doesn't name it keeps it", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  const at = "/v1/projects/shop/oncall/schedules";
  const body = {
    name: "office",
    timezone: "UTC",
    covers: "hours",
    layers: [{ ...layer("l", hours(9, 17, [1, 2, 3, 4, 5])), participants: [box.owner.accountId] }],
  };
  assert.equal((await box.api("POST", at, { ...body, covers: "nights" })).status, 400);
  const made = await box.api("POST", at, body);
  assert.equal(made.status, 201);
  assert.equal(made.body.covers, "hours");
  const preview = await box.api("GET", `${at}/office/preview`);
  assert.deepEqual(preview.body.gaps, []);
  const { covers: _left, ...rest } = body;
  const draft = await box.api("POST", "/v1/projects/shop/oncall/preview", { schedule: rest });
  assert.deepEqual([draft.status, draft.body.gaps], [200, []]);
  assert.equal((await box.api("PUT", `${at}/office`, rest)).body.covers, "hours");
  const { body: config } = await box.api("GET", "/v1/projects/shop/config");
  assert.equal(config.config.schedules[0].covers, "hours");
  await box.clock.turn((17 * HOUR - ((box.clock.now() / 1000) % (24 * HOUR)) + HOUR) * 1000);
  const now = await box.api("GET", `${at}/office/current`);
  assert.deepEqual([now.body.on_call, now.body.off], [false, true]);
  const tab = signedIn(box);
  const page = (await tab.get("/oncall")).text;
  assert.match(page, /No gap in the next 14 days/);
  assert.match(page, /Nobody, as planned/);
  // The same wherever the page says who has duty now.
  const { body: overview } = await box.api("GET", "/v1/overview");
  assert.deepEqual(overview.projects[0].on_call, [
    { schedule: "office", account_id: null, accounts: [], off: true },
  ]);
  assert.match((await tab.get("/p")).text, /nobody, outside of its hours \(office\)/);
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  assert.match((await run(["overview"], { env })).out, /office: nobody, outside of its hours$/m);
  await box.api("POST", "/v1/projects/shop/rules", { name: "all", match: { min_level: 100 } });
  await box.ingest(token, { message: "disk is full", level: 500 });
  await settle(box);
  await box.api("POST", "/v1/alerts/1/resolve");
  assert.match((await tab.get("/alerts")).text, /On call: nobody, outside of its hours \(shop/);
  const form = (await tab.get("/oncall/shop/office/layers")).text;
  assert.match(form, /name="covers_hours" checked/);
  const always = await box.api("PUT", `${at}/office`, { ...rest, covers: "always" });
  assert.equal(always.body.covers, "always");
  assert.match((await tab.get("/oncall")).text, /\d+ gaps in the next 14 days/);
});
