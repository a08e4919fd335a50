import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { handOversIn } from "../../../src/core/oncall/hand-over.ts";
import { followCalendar, preview } from "../../../src/core/oncall/rotation.ts";
import type { Layer, Schedule } from "../../../src/core/oncall/schedule.ts";
import { finish } from "../../../src/ground/kit/slices.ts";
import { box as here } from "../../support/command-line.ts";
import { signedIn } from "../../support/console.ts";
import { pagedStory, reachBy } from "../../support/contacts.ts";
import { sentBy } from "../../support/sent-by.ts";

const DAY = 86_400;
const at = (text: string): number => Date.parse(text) / 1000;

const daily = (participants: Layer["participants"], take: number): Schedule => ({
  timezone: "UTC",
  layers: [
    {
      name: "days",
      participants,
      rotation_start: 0,
      shift_minutes: 1440,
      restriction: null,
      take,
    },
  ],
  overrides: [],
  holidays: new Map(),
});

/** "ada 0-2": the days of each shift, in the preview's order. */
const shiftsIn = (schedule: Schedule, days: number) =>
  preview(schedule, 0, days * DAY).shifts.map(
    ({ account_id, starts_at, ends_at }) => `${account_id} ${starts_at / DAY}-${ends_at / DAY}`,
  );

test("a turn has its person and the next others of the row; one shift a person, as long as they have it", () => {
  const three = ["ada", "ben", "cy"];
  assert.deepEqual(shiftsIn(daily(three, 2), 4), [
    "ada 0-1",
    "ben 0-2",
    "cy 1-3",
    "ada 2-4",
    "ben 3-4",
  ]);
  assert.deepEqual(shiftsIn(daily(three, 3), 9), ["ada 0-9", "ben 0-9", "cy 0-9"]);
  assert.deepEqual(shiftsIn(daily(["ada", "ada", "ben", "cy"], 2), 4), [
    "ada 0-2",
    "ben 0-3",
    "cy 2-4",
    "ada 3-4",
  ]);
  // A turn of nobody is a gap; as a next one it is passed over.
  const gap = daily(["ada", null, "ben"], 2);
  assert.deepEqual(shiftsIn(gap, 3), ["ada 0-1", "ben 0-1", "ben 2-3", "ada 2-3"]);
  assert.deepEqual(preview(gap, 0, 3 * DAY).gaps, [{ starts_at: DAY, ends_at: 2 * DAY }]);
  // What goes on at the beginning began when it began, whoever of them.
  const [first, second] = finish(
    followCalendar(daily(three, 2), { from: 1.5 * DAY, until: 2 * DAY }),
  );
  assert.deepEqual(
    [first, second].map((one) => [one?.account_id, (one?.starts_at ?? 0) / DAY]),
    [
      ["ben", 0],
      ["cy", 1],
    ],
  );
});

test("an override stands for all of them; who comes takes over from who goes", () => {
  const schedule = daily(["ada", "ben", "cy"], 2);
  const by = (ends: number) => ({
    id: "o",
    account_id: "dee",
    starts_at: 0.5 * DAY,
    ends_at: ends,
  });
  const covered = { ...schedule, overrides: [by(0.75 * DAY)] };
  assert.deepEqual(shiftsIn(covered, 1), [
    "ada 0-0.5",
    "ben 0-0.5",
    "dee 0.5-0.75",
    "ada 0.75-1",
    "ben 0.75-1",
  ]);
  const handed = handOversIn(covered, { from: 0, until: DAY }).map(
    ({ at: when, from, to, until }) =>
      `${when / DAY}: ${from} > ${to} until ${until === null ? "?" : until / DAY}`,
  );
  assert.deepEqual(handed, [
    "0.5: ada > dee until 0.75",
    "0.5: ben > null until 0.75",
    "0.75: dee > ada until 1",
    "0.75: null > ben until 2",
    "1: ada > cy until 3",
  ]);
});

test("a step pages all of them at once; answers, grid, calendar, commands, file, form and hours say so", async (t) => {
  const { box, receiver, ann, bob, rule, fire, told } = await pagedStory(t);
  const cy = box.person("member", "cy@example.org");
  for (const [person, path] of [
    [ann, "/ann"],
    [bob, "/bob"],
    [cy, "/cy"],
  ] as const)
    await reachBy(box, person, receiver, path);
  const now = Math.floor(box.clock.now() / 1000);
  const begins = at("2026-01-05T00:00:00Z");
  const base = "/v1/projects/shop/oncall/schedules";
  const schedule = (take: number, people = [ann, bob, cy]) => ({
    name: "pair",
    timezone: "UTC",
    layers: [
      {
        name: "days",
        participants: people.map(({ accountId }) => accountId),
        rotation_start: begins,
        shift_minutes: 1440,
        take,
      },
    ],
  });
  for (const [take, people, status, field] of [
    [0, 3, 400, "/layers/0/take"],
    [6, 3, 400, "/layers/0/take"],
    [3, 2, 422, "/layers/0/take"],
  ] as const) {
    const refused = await box.api("POST", base, schedule(take, [ann, bob, cy].slice(0, people)));
    assert.deepEqual([refused.status, refused.body.error.details[0].field], [status, field]);
  }
  const made = await box.api("POST", base, schedule(2));
  assert.deepEqual([made.status, made.body.layers[0].take], [201, 2]);
  assert.ok(now >= begins && now < begins + DAY, "it is 5 January");

  const current = (await box.api("GET", `${base}/pair/current`)).body;
  assert.deepEqual(
    [current.email, current.accounts.map((one: { email: string }) => one.email)],
    ["ann@example.org", ["ann@example.org", "bob@example.org"]],
  );
  assert.deepEqual(
    current.accounts.map((one: { ends_at: number; reached: boolean }) => [
      (one.ends_at - begins) / DAY,
      one.reached,
    ]),
    [
      [1, true],
      [2, true],
    ],
  );
  await rule([{ after_minutes: 0, accounts: [], schedules: ["pair"] }]);
  told();
  await fire(1);
  assert.deepEqual(told().toSorted(), ["/ann page 1", "/bob page 1"]);
  await box.api("POST", "/v1/alerts/1/ack", undefined, bob.key);
  told();

  const grid = (await box.api("GET", `/v1/oncall/grid?from=${begins}&to=${begins + 2 * DAY}`)).body;
  assert.deepEqual(
    grid.schedules[0].shifts.map((one: { email: string }) => one.email.slice(0, 3)),
    ["ann", "bob", "cy@"],
  );
  const ical = await (
    await fetch(`${box.url}${base}/pair/calendar.ics`, {
      headers: { authorization: `Bearer ${box.owner.key}` },
    })
  ).text();
  const uids = ical.match(/^UID:.*$/gm) ?? [];
  assert.equal(new Set(uids).size, uids.length);
  const env = { BOX_KEY: box.owner.key, BOX_URL: box.url };
  const listed = (await here(["oncall"], { env })).out;
  assert.match(listed, /pair +ann@example.org +yes/);
  assert.match(listed, /pair +bob@example.org +yes/);
  assert.match((await here(["overview"], { env })).out, /pair: .*ann.* \+ .*bob/i);

  // Both have a duty of the day, and an override has it alone.
  const hours = await box.api("GET", `/v1/numbers?by=person&from=${begins}&to=${begins + DAY}`);
  const shared = (now - begins) / 3600;
  assert.deepEqual(
    hours.body.rows
      .filter((row: { on_call_hours: number }) => row.on_call_hours > 0)
      .map((row: { on_call_hours: number }) => row.on_call_hours.toFixed(1)),
    [shared.toFixed(1), shared.toFixed(1)],
  );
  const config = join(box.data, "box.yaml");
  writeFileSync(config, (await here(["config", "export"], { env })).out);
  const same = await here(["config", "apply", config, "--dry-run", "--exit-code"], { env });
  assert.deepEqual([same.code, same.out.includes("pair")], [0, false], same.out + same.err);

  const tab = signedIn(box);
  const page = (await tab.get("/oncall/shop/pair/layers")).text;
  assert.match(page, /<option value="2" selected>2 people/);
  const sent = sentBy(page);
  sent.set("l0-take", "3");
  assert.equal((await tab.post("/oncall/shop/pair/layers", [...sent])).status, 303);
  assert.equal((await box.api("GET", `${base}/pair`)).body.layers[0].take, 3);
  sent.set("l0-take", "1");
  assert.equal((await tab.post("/oncall/shop/pair/layers", [...sent])).status, 303);
  assert.equal((await box.api("GET", `${base}/pair`)).body.layers[0].take, undefined);
  await box.api("PUT", `${base}/pair`, schedule(2));
  const shown = (await tab.get("/oncall/shop/pair")).text;
  assert.match(shown, /with .*bob/is);
  assert.match(shown, /class="cal-strip cal-lanes-2"/);

  const cover = { account_id: cy.accountId, ends_at: now + DAY };
  assert.equal((await box.api("POST", `${base}/pair/overrides`, cover)).status, 201);
  told();
  await fire(2);
  const pages = told().filter((one) => one.includes(" page "));
  assert.deepEqual(pages, ["/cy page 2"]);
});
