import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../src/ground/kit/log.ts";
import { type Person, testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { box as run } from "../support/command-line.ts";
import { signedIn } from "../support/console.ts";
import { reachBy, toldIn } from "../support/contacts.ts";
import { startReceiver } from "../support/receiver.ts";
import { busy, pass, settle } from "../support/until.ts";

/** Turns in which nobody is on call on purpose: `null` among a layer's participants. */

const DAY = 86_400;
const PATH = "/v1/projects/shop/oncall/schedules";

test("a turn of nobody is a gap everywhere, pages nobody, and only the person before is told", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const box = await testBox({ publicUrl: "https://box.test" }, handClock(), silentLog);
  t.after(() => box.stop());
  const token = await box.project("shop");
  const [ann, bob] = ["ann", "bob"].map((name) => box.person("member", `${name}@example.org`)) as [
    Person,
    Person,
  ];
  const now = Math.floor(box.clock.now() / 1000);
  const starts = now + 3600 - DAY;
  const layer = (participants: (string | null)[]) => ({
    name: "days",
    participants,
    rotation_start: starts,
    shift_minutes: 1440,
  });
  const body = (participants: (string | null)[]) => ({
    name: "primary",
    timezone: "UTC",
    layers: [layer(participants)],
  });
  const only = await box.api("POST", PATH, body([null, null]));
  assert.deepEqual([only.status, only.body.error.code], [422, "invalid_layer"]);
  assert.deepEqual(only.body.error.details, [
    { field: "/layers/0/participants", reason: "must name somebody" },
  ]);
  const unknown = await box.api("POST", PATH, body([null, "ffffffffffffffff"]));
  assert.equal(unknown.body.error.details[0].field, "/layers/0/participants/1");

  // Today Ann, tomorrow nobody, then Bob.
  const turns = [ann.accountId, null, bob.accountId];
  const made = await box.api("POST", PATH, body(["email:ann@example.org", null, bob.accountId]));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  assert.deepEqual(made.body.layers[0].participants, turns);
  assert.deepEqual(
    made.body.people.map(({ email }: { email: string }) => email),
    ["ann@example.org", "bob@example.org"],
  );

  const day = (n: number) => starts + n * DAY;
  const range = `from=${now}&until=${day(4)}`;
  const { body: preview } = await box.api("GET", `${PATH}/primary/preview?${range}`);
  const shifts = preview.shifts.map((one: { account_id: string; starts_at: number }) => [
    one.account_id,
    one.starts_at,
  ]);
  assert.deepEqual(shifts, [
    [ann.accountId, now],
    [bob.accountId, day(2)],
    [ann.accountId, day(3)],
  ]);
  assert.deepEqual(preview.gaps, [{ starts_at: day(1), ends_at: day(2) }]);
  const { body: grid } = await box.api("GET", `/v1/oncall/grid?from=${now}&to=${day(4)}`);
  assert.deepEqual(grid.schedules[0].gaps, preview.gaps);

  // By file, by command and by form.
  const { body: file } = await box.api("GET", "/v1/projects/shop/config");
  assert.deepEqual(file.config.schedules[0].layers[0].participants, [
    "ann@example.org",
    null,
    "bob@example.org",
  ]);
  const applied = await box.api("PUT", "/v1/projects/shop/config", file);
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const shown = await run(["schedule", "show", "shop", "primary"], { env });
  assert.match(shown.out, /days +\S+, nobody, \S+ +24 h each/);
  const tab = signedIn(box);
  const page = (await tab.get("/oncall/shop/primary/layers")).text;
  assert.match(page, /<option value="nobody">Nobody<\/option>/);
  assert.match(page, /name="l0-person" value="nobody"><span>2\. Nobody</);
  const fields = [...page.matchAll(/<input[^>]* name="([^"]+)" value="([^"]*)"/g)]
    .filter(([input]) => !/type="(checkbox|radio)"/.test(input))
    .map(([, name = "", value = ""]): [string, string] => [name, value]);
  const saved = await tab.post("/oncall/shop/primary/layers", [
    ...fields,
    ["l0-length", "1"],
    ["l0-unit", "1440"],
    ["l0-when", "always"],
    ["l0-add", "nobody"],
    ["hand_over", "on"],
  ]);
  assert.equal(saved.status, 303, saved.text);
  const four = (await box.api("GET", `${PATH}/primary`)).body;
  assert.deepEqual(four.layers[0].participants, [...turns, null]);
  assert.equal((await box.api("PUT", `${PATH}/primary`, body(turns))).status, 200);

  // At the hand-over to nobody Ann is told, and nobody else; what opens then is nobody's.
  for (const [i, person] of [ann, bob].entries()) await reachBy(box, person, receiver, `/p${i}`);
  await box.api("POST", "/v1/projects/shop/rules", {
    name: "disk",
    escalations: [{ schedules: ["primary"] }],
  });
  let seen = receiver.received.length;
  const heard = async (count: number) => {
    await busy(box, () => receiver.received.length >= seen + count, `${count} messages`);
    await settle(box);
    const fresh = receiver.received.slice(seen).map((one) => `${one.path} ${toldIn(one).title}`);
    seen = receiver.received.length;
    return fresh;
  };
  await pass(box, 3700, 1850);
  const [told = "", ...more] = await heard(1);
  assert.match(told, /^\/p0 You're off call for shop \/ primary\. Nobody has it now/);
  assert.deepEqual(more, []);
  const { body: current } = await box.api("GET", `${PATH}/primary/current`);
  assert.deepEqual(
    [current.on_call, current.off, current.next.account_id, current.next.starts_at],
    [false, undefined, bob.accountId, day(2)],
  );
  await box.ingest(token, { message: "disk full", level: 400 });
  await settle(box);
  const { body: alert } = await box.api("GET", "/v1/alerts/1");
  assert.deepEqual([alert.state, alert.escalation_level], ["open", 0], "the step pages nobody");
  assert.deepEqual(await heard(0), []);

  await pass(box, DAY, 21_600);
  assert.match((await heard(1)).join(), /^\/p1 You're on call for shop \/ primary/);
  const of = { schedule: "shop/primary" };
  const { body: calendar } = await box.api("POST", "/v1/accounts/me/calendars", of);
  const text = await (await fetch(box.url + new URL(calendar.calendar_url).pathname)).text();
  const who = [...text.matchAll(/^SUMMARY:(\S+)/gm)].map(([, one]) => one);
  assert.deepEqual([...new Set(who)], ["ann@example.org", "bob@example.org"]);
});
