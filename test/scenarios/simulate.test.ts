import assert from "node:assert/strict";
import { performance } from "node:perf_hooks";
import { type TestContext, test } from "node:test";
import type { Simulation, SweepCells } from "../../src/core/alerts/simulate/shape.ts";
import type { Person } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { pagedStory, reachBy } from "../support/contacts.ts";

/** Who would be paged, asked before it matters: by the interface and by command. */

const HOUR = 3600;
const RULES = "/v1/projects/shop/rules";

async function asked(t: TestContext) {
  const story = await pagedStory(t);
  const { box, ann, bob } = story;
  const now = Math.floor(box.clock.now() / 1000);
  // The first use of a key in a minute is written down.
  await box.api("GET", "/v1/me", undefined, ann.key);
  const post = async <T>(path: string, body: object): Promise<T> => {
    const before = box.tenant.store.sql("SELECT total_changes()").pluck().get();
    const answer = await box.api("POST", path, body, ann.key);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.equal(box.tenant.store.sql("SELECT total_changes()").pluck().get(), before, "wrote");
    return answer.body as T;
  };
  const layer = (participants: Person[], shift_minutes = 1440) => ({
    name: "days",
    rotation_start: now - HOUR,
    shift_minutes,
    participants: participants.map(({ accountId }) => accountId),
  });
  const schedule = async (name: string, layers: object[]) => {
    const write = { name, timezone: "UTC", layers };
    const made = await box.api("POST", "/v1/projects/shop/oncall/schedules", write);
    assert.equal(made.status, 201, JSON.stringify(made.body));
  };
  const step = (after_minutes: number, schedules: string[], accounts: Person[] = []) => ({
    after_minutes,
    schedules,
    repeat_minutes: 0,
    accounts: accounts.map(({ accountId }) => accountId),
  });
  const simulate = (more: object = {}) =>
    post<Simulation>(`${RULES}/simulate`, { rule: "errors", at: now + HOUR, level: 500, ...more });
  return { ...story, now, post, layer, schedule, step, simulate, names: [ann, bob] };
}

/** `0 step 1 ann`: minutes after the opening. */
const lines = ({ rungs }: Simulation) =>
  rungs.map(({ at, step, why, people }) => {
    const minute = (at - (rungs[0]?.at ?? 0)) / 60;
    const who = people.map(({ name, answers }) => name.split("@")[0] + (answers ? "" : "-"));
    return `${minute} ${why} ${step} ${who.join(",") || "nobody"}`;
  });

test("who would be paged by which step, schedule and override, through what, and who wouldn't and why", async (t) => {
  const { box, receiver, ann, bob, rule, now, layer, schedule, step, simulate } = await asked(t);
  const cid = box.person("member", "cid@example.org");
  await reachBy(box, ann, receiver, "/ann");
  const bobs = await reachBy(box, bob, receiver, "/bob");
  await schedule("primary", [layer([ann, cid])]);
  await schedule("empty", [{ ...layer([ann]), rotation_start: now + 90 * 86_400 }]);
  const hook = { name: "tickets", type: "webhook", url: receiver.url, events: ["alert.opened"] };
  assert.equal((await box.api("POST", "/v1/projects/shop/integrations", hook)).status, 201);
  await rule([step(0, ["primary"]), step(10, ["empty"]), step(15, [], [bob]), step(40, [], [cid])]);
  const first = await simulate({ horizon_hours: 1 });
  assert.deepEqual(lines(first), [
    "0 step 1 ann",
    "10 step 2 nobody",
    "10 nobody_reached_before 3 bob",
    "40 step 4 cid-",
  ]);
  const [annPaged] = first.rungs[0]?.people ?? [];
  const until = now - HOUR + 86_400;
  assert.deepEqual(annPaged?.because, [
    { kind: "schedule", name: "primary", layer: "days", until },
  ]);
  assert.deepEqual(
    annPaged?.channels.map(({ kind, label, state }) => [kind, label, state]),
    [["webhook", "/ann", "confirmed"]],
  );
  assert.deepEqual(first.rungs[3]?.people[0]?.channels[0]?.state, "none");
  assert.deepEqual(
    first.shared.map(({ name, event, state, reason }) => [name, event, state, reason]),
    [
      ["tickets", "alert.opened", "confirmed", null],
      ["tickets", "alert.escalated", "none", "event_filtered"],
    ],
  );
  assert.deepEqual(
    [first.verdict.level, first.ends],
    ["good", { at: now + HOUR + 2400, how: "top" }],
  );
  assert.equal(first.verdict.second_person_at, now + HOUR + 600);

  // Somebody covers her, she wouldn't answer, and he takes it.
  const over = { account_id: cid.accountId, starts_at: now, ends_at: now + 8 * HOUR };
  const path = "/v1/projects/shop/oncall/schedules/primary/overrides";
  assert.equal((await box.api("POST", path, over)).status, 201);
  const covered = await simulate({
    silent: [cid.accountId],
    ack: { account: bob.accountId, after_seconds: 120 },
  });
  assert.deepEqual(lines(covered).slice(0, 1), ["0 step 1 cid-"]);
  assert.deepEqual(covered.rungs[0]?.people[0]?.because, [
    { kind: "override", name: "primary", layer: null, until: now + 8 * HOUR },
  ]);
  assert.equal(covered.ends.how, "ack");
  assert.deepEqual(
    covered.untold.map(({ name, reason, by }) => [name, reason, by]),
    [
      ["cid@example.org", "no_channel", null],
      ["ann@example.org", "covered_by_override", cid.accountId],
    ],
  );
  // Whom nothing reaches isn't waited for.
  assert.equal(covered.rungs.at(-1)?.at, covered.rungs[0]?.at);

  const silence = {
    project: "shop",
    match: { rule: "errors" },
    critical: true,
    reason: "deploy",
    ends_at: now + 2 * HOUR,
  };
  assert.equal((await box.api("POST", "/v1/silences", silence)).status, 201);
  const quiet = await simulate({ horizon_hours: 1 });
  assert.deepEqual([lines(quiet).length > 0, quiet.held.length], [true, 1]);
  assert.equal(quiet.rungs[0]?.at, now + 2 * HOUR);
  const whole = await simulate({ at: now, horizon_hours: 1 });
  assert.deepEqual([whole.rungs, whole.verdict.level], [[], "warn"]);
  assert.match(whole.verdict.sentence, /Silenced: deploy/);
  assert.ok(
    whole.untold.every(({ reason }) => reason === "silenced" || reason === "account_removed"),
  );
  assert.equal(whole.shared[0]?.reason, "silenced");

  const off = { state: "off" };
  await box.api("PATCH", `/v1/accounts/me/contacts/${bobs}`, off, bob.key);
  const later = await simulate({ at: now + 3 * HOUR, silent: [ann.accountId] });
  assert.equal(later.verdict.level, "error");
});

test("a rule that isn't stored, a rule without a ladder, what isn't there, and what is out of bounds", async (t) => {
  const { box, ann, rule, simulate } = await asked(t);
  await rule([]);
  const bare = await simulate();
  assert.deepEqual([bare.verdict.level, bare.untold[0]?.reason], ["error", "no_ladder"]);
  const draft = { name: "new", escalations: [{ accounts: [ann.accountId] }] };
  const drafted = await simulate({ rule: draft });
  assert.equal(drafted.rungs.length, 1);
  assert.match(drafted.verdict.sentence, /nobody has a contact or a phone/);
  const byEmail = await simulate({ rule: draft, silent: ["email:ann@example.org"] });
  assert.equal(byEmail.rungs[0]?.people[0]?.answers, false);
  const refused = async (more: object, code: string, status: number) => {
    const body = { rule: "errors", ...more };
    const answer = await box.api("POST", `${RULES}/simulate`, body, ann.key);
    assert.deepEqual([answer.status, answer.body.error?.code], [status, code], code);
  };
  await refused({ rule: "none" }, "not_found", 404);
  await refused({ silent: ["0000000000000000"] }, "not_a_member", 422);
  await refused({ ack: { account: "x", after_seconds: 1 } }, "not_a_member", 422);
  const unknown = { name: "n", escalations: [{ schedules: ["none"] }] };
  await refused({ rule: unknown }, "unknown_schedule", 422);
  await refused({ horizon_hours: 49 }, "invalid_request", 400);
  const sweep = await box.api("POST", `${RULES}/sweep`, { rule: "errors", days: 15 }, ann.key);
  assert.equal(sweep.status, 400);
});

test("a sweep says each hour's verdict, as a simulation of that hour does, in time", async (t) => {
  const { box, receiver, ann, bob, rule, now, post, layer, schedule, step, simulate } =
    await asked(t);
  await reachBy(box, ann, receiver, "/ann");
  await reachBy(box, bob, receiver, "/bob");
  const night = { days: [], start_minute: 1320, end_minute: 360 };
  await schedule("primary", [layer([ann, bob], 720)]);
  await schedule("days", [{ ...layer([bob, ann], 720), restriction: night }]);
  const ladder = Array.from({ length: 10 }, (_, i) =>
    step(i * 5, [i % 2 === 0 ? "primary" : "days"]),
  );
  await rule(ladder);
  const body = { rule: "errors", level: 500, from: now, days: 14 };
  await post<SweepCells>(`${RULES}/sweep`, body);
  const began = performance.now();
  const { cells } = await post<SweepCells>(`${RULES}/sweep`, body);
  const took = performance.now() - began;
  t.diagnostic(`${Math.round(took)} ms for ${cells.length} hours of ten steps`);
  assert.ok(took < 2000, `${took} ms`);
  assert.equal(cells.length, 336);
  const levels = new Set(cells.map(({ verdict }) => verdict));
  assert.deepEqual([...levels].toSorted(), ["good", "warn"]);
  for (const cell of cells.filter((_, i) => i % 48 < 12)) {
    const one = await simulate({ at: cell.at });
    assert.equal(one.verdict.level, cell.verdict, cell.why);
  }
});

test("a draft of a schedule is previewed beside what is saved, and nothing is stored", async (t) => {
  const { box, ann, bob, now, post, layer, schedule } = await asked(t);
  await schedule("primary", [layer([ann])]);
  const draft = { name: "primary", timezone: "UTC", layers: [layer([bob])] };
  const over = { account_id: ann.accountId, starts_at: now + HOUR, ends_at: now + 2 * HOUR };
  const base = "/v1/projects/shop/oncall";
  assert.equal((await box.api("POST", `${base}/schedules/primary/overrides`, over)).status, 201);
  type Shifts = { shifts: { email: string }[] };
  const range = { from: now, until: now + 4 * HOUR };
  const answer = await post<Shifts & { was: Shifts | null }>(`${base}/preview`, {
    schedule: draft,
    ...range,
  });
  const emails = ({ shifts }: Shifts) => shifts.map(({ email }) => email.split("@")[0]);
  assert.deepEqual(emails(answer), ["bob", "ann", "bob"]);
  assert.deepEqual(answer.was && emails(answer.was), ["ann", "ann", "ann"]);
  const saved = `${base}/schedules/primary/preview?from=${range.from}&until=${range.until}`;
  assert.deepEqual(answer.was, (await box.api("GET", saved)).body);
  const fresh = await post<{ was: null }>(`${base}/preview`, { schedule: { ...draft, name: "x" } });
  assert.equal(fresh.was, null);
  for (const [more, code] of [
    [{ timezone: "Mars" }, "invalid_timezone"],
    [{ layers: [{ ...layer([ann]), participants: ["nobody"] }] }, "not_a_member"],
  ] as const) {
    const bad = await box.api("POST", `${base}/preview`, { schedule: { ...draft, ...more } });
    assert.deepEqual([bad.status, bad.body.error.code], [422, code]);
  }
});

test("box simulate and box why speak by the clock of the terminal", async (t) => {
  const { box, receiver, ann, bob, rule, fire, step } = await asked(t);
  await reachBy(box, ann, receiver, "/ann");
  await rule([step(0, [], [ann]), step(15, [], [bob])]);
  const env = { BOX_URL: box.url, BOX_KEY: ann.key, TZ: "Europe/Berlin" };
  const words = ["simulate", "--rule", "errors", "--at", "2026-07-01 03:00", "--silent", "ann"];
  const said = await run(words, { env });
  assert.equal(said.code, 0, said.err);
  assert.match(
    said.out,
    /^ERROR: Nobody who answers is rung\. First to ring: ann@example\.org at once\./,
  );
  assert.match(
    said.out,
    /\n2026-07-01 03:00\+02:00 +rung 1 +ann@example\.org +webhook \/ann, no answer +rung 1\n/,
  );
  assert.match(
    said.out,
    /\n2026-07-01 03:15\+02:00 +rung 2 +bob@example\.org +NOTHING, no answer +rung 2\n/,
  );
  const swept = await run(["simulate", "--rule", "errors", "--sweep", "2"], { env });
  assert.match(swept.out, /^0 of 48 hours are good \(Europe\/Berlin\)\n\n\d{4}-\d\d-\d\d \| *!+\n/);
  assert.equal((await run(["simulate"], { env })).code, 2);
  const steps = [step(0, [], [ann]), step(20, [], [bob])];
  const ladder = { name: "night", steps, passes: 2, pass_after_minutes: 40 };
  assert.equal((await box.api("POST", "/v1/ladders", ladder)).status, 201);
  const climbed = await run(["simulate", "--ladder", "night", "--at", "2026-07-01 03:00"], { env });
  assert.match(
    climbed.out,
    /\n2026-07-01 03:20\+02:00 +rung 2 +bob@.*\n2026-07-01 04:20\+02:00 +rung 2 +bob@/s,
  );
  for (const ladder of [
    ["--ladder", "none"],
    ["--ladder", "night", "--rule", "errors"],
  ])
    assert.notEqual((await run(["simulate", ...ladder], { env })).code, 0);

  const id = await fire(1);
  const why = await run(["why", id], { env });
  assert.match(why.out, /^alert 1 of shop\/errors, open\n/);
  assert.match(
    why.out,
    /\nann@example\.org by webhook \/ann: sent, not confirmed, 2026-01-05 10:\d\d(:\d\d)?\+01:00\n/,
  );
  assert.match(why.out, /\nbob@example\.org: rung 2 is due 2026-01-05 10:\d\d(:\d\d)?\+01:00\n/);
  assert.match(why.out, /\n2026-01-05 10:\d\d(:\d\d)?\+01:00 {2}Rung 1 paged ann@example\.org/);
  const one = await run(["why", id, "--person", "bob"], { env });
  assert.equal(one.out.trim().split("\n").length, 3, one.out);
  const nobody = await run(["why", id, "--person", "owner"], { env });
  assert.match(nobody.out, /no rung of the ladder of errors names them/);
});

test("a rule and a schedule are tried as they were read", async (t) => {
  const { box, schedule, layer, step, ann } = await asked(t);
  await schedule("first", [layer([ann])]);
  const write = { name: "read", escalations: [step(0, ["first"], [ann])] };
  assert.equal((await box.api("POST", RULES, write)).status, 201);
  const rule = (await box.api("GET", `${RULES}/read`)).body;
  const bodies: [path: string, body: object][] = [
    [`${RULES}/dry-run`, { rule }],
    [`${RULES}/simulate`, { rule }],
    [`${RULES}/sweep`, { rule, days: 1 }],
  ];
  const read = (await box.api("GET", "/v1/projects/shop/oncall/schedules")).body.schedules;
  bodies.push(["/v1/projects/shop/oncall/preview", { schedule: read.at(-1) }]);
  for (const [path, body] of bodies) {
    const answer = await box.api("POST", path, body);
    assert.equal(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`);
  }
});
