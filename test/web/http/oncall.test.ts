import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Person, type TestBox, testBox } from "../../support/box.ts";

const BASE = "/v1/projects/p/oncall/schedules";
const HOUR = 3600;
const DAY = 24 * HOUR;

let box: TestBox;
let ann: Person;
let bob: Person;
let now: number;
before(async () => {
  box = await testBox();
  await box.project("p");
  ann = box.person("member", "ann@example.org");
  bob = box.person("member", "bob@example.org");
  now = Math.floor(box.clock.now() / 1000);
});
after(() => box.stop());

const daily = (name: string, participants = [ann.accountId, bob.accountId]) => ({
  name,
  timezone: "Europe/London",
  layers: [{ name: "days", participants, rotation_start: now, shift_minutes: 1440 }],
});

describe("schedules", () => {
  test("create, read back and put back, rename, delete", async () => {
    const made = await box.api("POST", BASE, daily("nights"));
    assert.equal(made.status, 201);
    assert.equal(made.body.layers[0].restriction, null);
    assert.deepEqual((await box.api("GET", `${BASE}/nights`)).body, made.body);
    const version = async () =>
      (await box.api("GET", "/v1/pull")).body.config_versions[0].version as number;
    const before = await version();
    assert.deepEqual((await box.api("PUT", `${BASE}/nights`, made.body)).body, made.body);
    assert.equal(await version(), before, "a write that changes nothing doesn't count");

    await box.api("POST", "/v1/projects/p/rules", {
      name: "r",
      escalations: [{ schedules: ["nights"] }],
    });
    const used = await box.api("DELETE", `${BASE}/nights`);
    assert.deepEqual(
      [used.status, used.body.error.code, used.body.error.details[0].value],
      [409, "schedule_in_use", "r"],
    );
    assert.equal((await box.api("PUT", `${BASE}/nights`, daily("evenings"))).status, 200);
    assert.deepEqual(
      (await box.api("GET", "/v1/projects/p/rules/r")).body.escalations[0].schedules,
      ["evenings"],
    );
    await box.api("DELETE", "/v1/projects/p/rules/r");
    assert.deepEqual((await box.api("DELETE", `${BASE}/evenings`)).body, { deleted: true });
    assert.equal((await box.api("GET", `${BASE}/evenings`)).status, 404);
  });

  const layer = (change: object) => () => ({
    ...daily("x"),
    layers: [{ ...daily("x").layers[0], ...change }],
  });
  const cases: [string, () => object, number, string, string][] = [
    [
      "a bare offset",
      () => ({ ...daily("x"), timezone: "+02:00" }),
      422,
      "invalid_timezone",
      "/timezone",
    ],
    ["no zone", () => ({ name: "x", layers: [] }), 400, "invalid_request", "/timezone"],
    [
      "strangers, each listed",
      () => daily("x", ["s1", "s2"]),
      422,
      "not_a_member",
      "/layers/0/participants/1",
    ],
    [
      "a layer of nobody",
      layer({ participants: [] }),
      422,
      "invalid_layer",
      "/layers/0/participants",
    ],
    [
      "a shift of no minutes",
      layer({ shift_minutes: 0 }),
      400,
      "invalid_request",
      "/layers/0/shift_minutes",
    ],
    [
      "milliseconds",
      layer({ rotation_start: 1_800_000_000_000 }),
      400,
      "invalid_request",
      "/layers/0/rotation_start",
    ],
    [
      "day 7",
      layer({ restriction: { days: [7], start_minute: 0, end_minute: 1 } }),
      400,
      "invalid_request",
      "/layers/0/restriction/days/0",
    ],
    [
      "minute 1440 as a start",
      layer({ restriction: { start_minute: 1440, end_minute: 0 } }),
      400,
      "invalid_request",
      "/layers/0/restriction/start_minute",
    ],
    [
      "minute 1441 as an end",
      layer({ restriction: { start_minute: 0, end_minute: 1441 } }),
      400,
      "invalid_request",
      "/layers/0/restriction/end_minute",
    ],
  ];
  for (const [what, body, status, code, field] of cases) {
    test(`${what}: ${status} ${code}`, async () => {
      const answer = await box.api("POST", BASE, body());
      assert.deepEqual([answer.status, answer.body.error.code], [status, code]);
      assert.ok(
        answer.body.error.details.some((d: { field: string }) => d.field === field),
        JSON.stringify(answer.body),
      );
    });
  }

  test("no layers is allowed and is nobody", async () => {
    assert.equal(
      (await box.api("POST", BASE, { name: "empty", timezone: "UTC", layers: [] })).status,
      201,
    );
    assert.deepEqual((await box.api("GET", `${BASE}/empty/current`)).body, {
      on_call: false,
      next: null,
    });
  });
});

describe("who is on call", () => {
  before(() => box.api("POST", BASE, daily("rota")));

  test("current, then the next person a day later", async () => {
    const first = await box.api("GET", `${BASE}/rota/current`);
    const seat = {
      account_id: ann.accountId,
      email: "ann@example.org",
      starts_at: now,
      ends_at: now + DAY,
    };
    assert.deepEqual(first.body, {
      on_call: true,
      ...seat,
      accounts: [seat],
      schedule: "rota",
      layer: "days",
      override_id: null,
    });
    const preview = await box.api("GET", `${BASE}/rota/preview?from=${now}&until=${now + 2 * DAY}`);
    assert.deepEqual(
      preview.body.shifts.map((s: { email: string }) => s.email),
      ["ann@example.org", "bob@example.org"],
    );
    assert.deepEqual(preview.body.gaps, []);
  });

  test("an override beats the layers for its time, and goes away", async () => {
    const made = await box.api("POST", `${BASE}/rota/overrides`, {
      account_id: bob.accountId,
      ends_at: now + HOUR,
    });
    assert.equal(made.status, 201);
    const current = await box.api("GET", `${BASE}/rota/current`);
    assert.deepEqual(
      [current.body.account_id, current.body.layer, current.body.override_id],
      [bob.accountId, null, made.body.id],
    );
    const [listed] = (await box.api("GET", `${BASE}/rota/overrides`)).body.overrides;
    assert.deepEqual(
      [listed.starts_at, listed.ends_at, listed.created_by],
      [now, now + HOUR, box.owner.accountId],
    );
    assert.deepEqual((await box.api("DELETE", `${BASE}/rota/overrides/${made.body.id}`)).body, {
      deleted: true,
    });
    assert.equal((await box.api("DELETE", `${BASE}/rota/overrides/${made.body.id}`)).status, 404);
  });

  const bad: [string, () => object, number, string][] = [
    ["no end", () => ({ account_id: ann.accountId }), 400, "/ends_at"],
    [
      "an end at its start",
      () => ({ account_id: ann.accountId, starts_at: now, ends_at: now }),
      422,
      "/ends_at",
    ],
    [
      "91 days",
      () => ({ account_id: ann.accountId, starts_at: now, ends_at: now + 90 * DAY + 1 }),
      422,
      "/ends_at",
    ],
    ["a stranger", () => ({ account_id: "s", ends_at: now + HOUR }), 422, "/account_id"],
  ];
  for (const [what, body, status, field] of bad) {
    test(`an override with ${what} is ${status}`, async () => {
      const answer = await box.api("POST", `${BASE}/rota/overrides`, body());
      assert.deepEqual([answer.status, answer.body.error.details[0].field], [status, field]);
    });
  }

  test("90 days are taken", async () => {
    const body = { account_id: ann.accountId, starts_at: now, ends_at: now + 90 * DAY };
    assert.equal((await box.api("POST", `${BASE}/rota/overrides`, body)).status, 201);
  });

  test("a preview is of at most 366 days; the calendar is iCalendar", async () => {
    assert.equal(
      (await box.api("GET", `${BASE}/rota/preview?from=${now}&until=${now + 366 * DAY}`)).status,
      200,
    );
    assert.equal(
      (await box.api("GET", `${BASE}/rota/preview?from=${now}&until=${now + 366 * DAY + 1}`))
        .status,
      400,
    );
    const calendar = await box.api("GET", `${BASE}/rota/calendar.ics`);
    assert.match(calendar.headers.get("content-type") ?? "", /^text\/calendar/);
    assert.match(calendar.body, /^BEGIN:VCALENDAR\r\n/);
  });
});

/** So many layers, each covering `minutes` of every day at its own time, with daily hand-overs. */
const busy = (name: string, count: number) => ({
  name,
  timezone: "Europe/London",
  layers: Array.from({ length: count }, (_, i) => ({
    name: `layer ${i}`,
    participants: [ann.accountId, bob.accountId],
    rotation_start: now - 60 * DAY,
    shift_minutes: 1440,
    restriction: { days: [], start_minute: i * 20, end_minute: i * 20 + 1 },
  })),
});

describe("schedules that change often", () => {
  test("one that a year's preview couldn't follow is refused, made or changed", async () => {
    const refused = await box.api("POST", BASE, busy("minutes", 50));
    assert.deepEqual(
      [refused.status, refused.body.error.code, refused.body.error.details[0].field],
      [422, "schedule_too_complex", "/layers"],
    );
    assert.equal((await box.api("POST", BASE, daily("minutes"))).status, 201);
    assert.equal((await box.api("PUT", `${BASE}/minutes`, busy("minutes", 50))).status, 422);
    assert.equal((await box.api("GET", `${BASE}/minutes`)).body.layers.length, 1);
  });

  test("others are answered while forty calendars of the worst allowed one are made", async () => {
    assert.equal((await box.api("POST", BASE, busy("worst", 20))).status, 201);
    let made = 0;
    const calendars = Array.from({ length: 40 }, async () => {
      const answer = await box.api("GET", `${BASE}/worst/calendar.ics`);
      made += 1;
      return answer.status;
    });
    let answered = 0;
    while (made < calendars.length) {
      assert.equal((await box.api("GET", "/healthz")).status, 200);
      answered += 1;
    }
    assert.deepEqual(new Set(await Promise.all(calendars)), new Set([200]));
    assert.ok(answered >= 100, `${answered} answers beside 40 calendars`);
  });
});
