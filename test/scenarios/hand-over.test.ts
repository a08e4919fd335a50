import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { silentLog } from "../../src/ground/kit/log.ts";
import { type Person, testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { signedIn } from "../support/console.ts";
import { reachBy, toldIn } from "../support/contacts.ts";
import { startReceiver } from "../support/receiver.ts";
import { busy, pass, settle } from "../support/until.ts";

/** What people are told when a schedule passes from one to the next. */

const DAY = 86_400;
const PATH = "/v1/projects/shop/oncall/schedules";

/** Days turn between Ann and Bob. Ann has it; Bob's begins in an hour. */
async function story(t: TestContext, more: object = {}) {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const box = await testBox({ publicUrl: "https://box.test" }, handClock(), silentLog);
  t.after(() => box.stop());
  const token = await box.project("shop");
  const people = ["ann", "bob"].map((name) => box.person("member", `${name}@example.org`));
  const [ann, bob] = people as [Person, Person];
  const now = Math.floor(box.clock.now() / 1000);
  const begins = now + 3600;
  const participants = [ann.accountId, bob.accountId];
  const layer = { name: "days", participants, rotation_start: begins - DAY, shift_minutes: 1440 };
  const body = { name: "primary", timezone: "UTC", layers: [layer], ...more };
  const made = await box.api("POST", PATH, body);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  for (const [i, person] of people.entries()) await reachBy(box, person, receiver, `/p${i}`);
  let seen = receiver.received.length;
  /** What came since the last call, by title. */
  const heard = async (count: number) => {
    await busy(box, () => receiver.received.length >= seen + count, `${count} messages`);
    await settle(box);
    const fresh = receiver.received.slice(seen);
    seen = receiver.received.length;
    return fresh
      .map((one) => `${one.path} ${[toldIn(one).title, ...toldIn(one).lines].join(" | ")}`)
      .toSorted();
  };
  const escalations = [{ schedules: ["primary"] }];
  const rule = await box.api("POST", "/v1/projects/shop/rules", { name: "disk", escalations });
  assert.equal(rule.status, 201, JSON.stringify(rule.body));
  const send = (message: string) => box.ingest(token, { message, level: 400 });
  return { box, ann, bob, made: made.body, body, now, heard, send, receiver };
}

test("both are told once what stands, whatever the box and its clock do; the page shows it", async (t) => {
  const { box, ann, bob, made, heard, send } = await story(t);
  assert.equal(made.hand_over, true, "on for a new schedule");
  await send("disk full on db7");
  assert.match((await heard(1)).join(), /\/p0 .*disk full on db7/);
  await box.api("POST", "/v1/alerts/1/ack", undefined, ann.key);
  await send("no space left in /var/spool of mail-3");
  await pass(box, 60, 20);
  assert.match((await heard(1)).join("\n"), /\/p0 .*mail-3/);

  await pass(box, 3600, 600);
  const [toAnn = "", toBob = "", ...more] = await heard(2);
  assert.deepEqual(more, []);
  assert.match(
    toAnn,
    /^\/p0 You're off call for shop \/ primary\. Bob.* has it now \| Since .* UTC: 2 alerts paged you/i,
  );
  assert.match(toAnn, /Still acknowledged by you: 1 alert\. \| .*disk full on db7/);
  assert.match(toBob, /^\/p1 You're on call for shop \/ primary until .* UTC \| Before you: ann/i);
  assert.match(
    toBob,
    /2 alerts are open: 1 acknowledged\. \| .*mail-3 \| .*db7 \| Most alerts in 7 days: shop \/ disk \(2\)\./,
  );
  assert.match(toBob, /That a page reaches you was proved in the last day/);

  box.clock.setWall(box.clock.now() - 120_000);
  await pass(box, 130, 130);
  await box.restart();
  await settle(box);
  await pass(box, 600, 600);
  assert.deepEqual(await heard(0), [], "nobody is told twice");

  const page = (await signedIn(box, bob).get("/oncall/shop/primary/hand-over")).text;
  for (const words of [
    /A summary for whoever takes over/,
    /<strong>You<\/strong>, since/,
    /Next: <strong>ann@example\.org<\/strong>, from <time/,
    /2 alerts are open: 1 acknowledged/,
    /2 alerts paged them/,
  ])
    assert.match(page, words);
});

test("what could not be told within the hour isn't; a schedule without hand-overs tells nobody; an override hands over, too", async (t) => {
  const { box, bob, body, heard, now } = await story(t, { hand_over: false });
  await pass(box, 3700, 1850);
  assert.deepEqual(await heard(0), []);
  const changed = await box.api("PUT", `${PATH}/primary`, { ...body, hand_over: true });
  assert.deepEqual([changed.status, changed.body.hand_over], [200, true]);
  assert.equal((await heard(2)).length, 2, "that of 100 s ago still holds");
  const kept = await box.api("PUT", `${PATH}/primary`, { ...body, hand_over: undefined });
  assert.equal(kept.body.hand_over, true, "left out: it stays");
  await box.restart(() => box.clock.turn((DAY + 3700) * 1000));
  await settle(box);
  assert.deepEqual(await heard(0), [], "more than an hour late");
  const ends_at = now + 4 * DAY;
  const cover = { account_id: bob.accountId, ends_at };
  assert.equal((await box.api("POST", `${PATH}/primary/overrides`, cover)).status, 201);
  assert.match((await heard(2)).join("\n"), /\/p0 You're off call[\s\S]*\/p1 You're on call/);
});
