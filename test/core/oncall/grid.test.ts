import assert from "node:assert/strict";
import { test } from "node:test";
import { gridOnCall, mostOfGrid } from "../../../src/core/oncall/grid.ts";
import { DAY, Zone } from "../../../src/core/oncall/zone.ts";
import { testBox } from "../../support/box.ts";
import { box as run } from "../../support/command-line.ts";
import { signedIn } from "../../support/console.ts";
import fc from "../../support/property.ts";

const LAYER = "/v1/projects/shop/oncall/schedules";

test("the grid is each schedule's preview, whatever the schedules and the range, also where clocks change", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("shop");
  const people = [0, 1, 2].map((i) => box.person("member", `p${i}@example.org`).accountId);
  const zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"];
  // Monday, 16 March 2026: both kinds of clock change follow within three weeks.
  const base = 1_773_619_200;
  const restriction = fc.option(
    fc.record({
      days: fc.uniqueArray(fc.nat(6)),
      start_minute: fc.nat(1439),
      end_minute: fc.nat(1440),
    }),
  );
  const layer = fc.record({
    participants: fc
      .array(fc.constantFrom(...people, null), { minLength: 1, maxLength: 3 })
      .filter((of) => of.some((one) => one !== null)),
    rotation_start: fc.integer({ min: base - 20 * DAY, max: base + 20 * DAY }),
    shift_minutes: fc.constantFrom(60, 480, 1440, 10_080),
    restriction,
  });
  const schedule = fc.record({
    timezone: fc.constantFrom(...zones),
    covers: fc.constantFrom("always", "hours"),
    layers: fc.array(layer, { maxLength: 3 }),
  });
  let n = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(schedule, { minLength: 1, maxLength: 3 }),
      fc.nat(30 * DAY),
      fc.integer({ min: 1, max: 60 * DAY }),
      async (all, offset, length) => {
        const [from, until] = [base + offset, base + offset + length];
        const names = all.map(() => `s${++n}`);
        for (const [i, one] of all.entries()) {
          const layers = one.layers.map((of, k) => ({ name: `l${k}`, ...of }));
          const body = { ...one, name: names[i], layers };
          assert.equal((await box.api("POST", LAYER, body)).status, 201);
        }
        const grid = await box.api("GET", `/v1/oncall/grid?from=${from}&to=${until}`);
        assert.equal(grid.status, 200);
        assert.deepEqual([grid.body.from, grid.body.until], [from, until]);
        assert.deepEqual(
          grid.body.schedules.map(({ schedule: name }: { schedule: string }) => name),
          names.toSorted(),
        );
        for (const { project, schedule: name, timezone, ...rest } of grid.body.schedules) {
          const at = `${LAYER}/${name}/preview?from=${from}&until=${until}`;
          assert.deepEqual(rest, (await box.api("GET", at)).body);
          assert.equal(timezone, all[names.indexOf(name)]?.timezone);
          assert.equal(project, "shop");
        }
        for (const name of names)
          assert.equal((await box.api("DELETE", `${LAYER}/${name}`)).status, 200);
      },
    ),
    { numRuns: 25 },
  );
});

test("what a grid refuses, what it cuts, and how its command and page show it", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("shop");
  const ann = box.person("member", "ann@example.org");
  const now = Math.floor(box.clock.now() / 1000);
  const at = (query: string, key?: string | null) =>
    box.api("GET", `/v1/oncall/grid${query}`, undefined, key);
  assert.deepEqual((await at("")).body, {
    from: now,
    until: now + 7 * DAY,
    schedules: [],
    left_out: 0,
  });
  for (const query of [
    `?from=${now}&to=${now}`,
    `?from=${now}&to=${now + 61 * DAY}`,
    "?from=-1",
    "?until=9",
  ])
    assert.equal((await at(query)).status, 400, query);
  assert.equal((await at("", null)).status, 401);
  const zone = new Zone("Europe/Berlin");
  const october = (DAY * 20_747) as number;
  const sixty = `?from=${zone.first(october)}&to=${zone.first(october + 60 * DAY)}`;
  assert.equal((await at(sixty)).status, 200, "sixty days of a zone whose clock goes back");
  const layer = { name: "l", participants: [ann.accountId], rotation_start: 0 };
  const office = { days: [1, 2, 3, 4, 5], start_minute: 540, end_minute: 1020 };
  const body = {
    name: "office",
    timezone: "UTC",
    layers: [{ ...layer, shift_minutes: 1440, restriction: office }],
  };
  assert.equal((await box.api("POST", LAYER, body)).status, 201);
  const until = now + 2 * DAY;
  const override = { account_id: box.owner.accountId, starts_at: now, ends_at: until };
  await box.api("POST", `${LAYER}/office/overrides`, override);
  const [one] = (await at("", ann.key)).body.schedules;
  assert.equal(one.shifts[0].email, "owner@example.org");
  assert.ok(one.shifts[0].override_id);
  assert.ok(one.gaps.length > 0);
  await box.api("PUT", `${LAYER}/office`, { ...body, covers: "hours" });
  assert.deepEqual((await at("")).body.schedules[0].gaps, []);
  const env = { BOX_URL: box.url, BOX_KEY: ann.key };
  const shown = await run(["oncall", "grid"], { env });
  assert.match(shown.out, /^shop +office .* owner@example\.org +override$/m);
  const page = (await signedIn(box, ann).get("/oncall")).text;
  assert.match(page, /<section id="week"[\s\S]*href="\/oncall\/shop\/office\?shift=/);
});

test("two hundred schedules that change each minute: cut by a fair part, and nobody waits for 250 ms", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("shop");
  const people = [box.owner.accountId, box.person("member").accountId];
  const layers = JSON.stringify([
    {
      name: "minutely",
      participants: people,
      rotation_start: 0,
      shift_minutes: 1,
      restriction: null,
    },
  ]);
  box.tenant.store.write((tx) => {
    const insert = tx.sql<[string, string, string]>(
      `INSERT INTO schedules (id, project_id, name, timezone, layers, created_at, updated_at)
       VALUES (?, (SELECT id FROM projects), ?, 'UTC', ?, 0, 0)`,
    );
    for (let i = 0; i < 210; i++) insert.run(`s${i}`, `s${String(i).padStart(3, "0")}`, layers);
  });
  let [last, worst] = [performance.now(), 0];
  const timer = setInterval(() => {
    const now = performance.now();
    worst = Math.max(worst, now - last);
    last = now;
  }, 1);
  const grid = await gridOnCall(
    { reader: box.tenant.store, slices: box.tenant.slices },
    { from: 1_773_619_200, until: 1_773_619_200 + 60 * DAY },
  );
  await new Promise((resolve) => setTimeout(resolve, 5));
  clearInterval(timer);
  assert.deepEqual([grid.schedules.length, grid.left_out], [200, 10]);
  const sizes = grid.schedules.map(({ shifts }) => shifts.length);
  assert.deepEqual(new Set(sizes), new Set([mostOfGrid.pieces / 200]));
  assert.ok(
    grid.schedules.every(({ shifts, until }) => shifts.at(-1)?.ends_at === until),
    "each says how far it was followed",
  );
  assert.ok(worst < 250, `the loop stood for ${worst} ms`);
});
