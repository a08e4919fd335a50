import assert from "node:assert/strict";
import { test } from "node:test";
import { pagedStory, reachBy, sendLines, toldIn } from "../support/contacts.ts";
import { startReceiver } from "../support/receiver.ts";
import { pass } from "../support/until.ts";

const ALERTS = 1_000;
/** What later pages wait for after a message, as contract §27 has it for this kind. */
const GAP_SECONDS = 5;

test("1,000 alerts in a minute are few messages to each person, the first at once; taken in one go, nobody is paged any more", async (t) => {
  const s = await pagedStory(t);
  const chat = await startReceiver();
  t.after(() => chat.close());
  for (const [person, path] of [
    [s.ann, "/ann-phone"],
    [s.ann, "/ann-mail"],
    [s.bob, "/bob"],
  ] as const)
    await reachBy(s.box, person, s.receiver, path);
  const events = ["alert.opened"];
  const room = { type: "slack", name: "ops", webhook_url: `${chat.url}/chat`, events };
  assert.equal((await s.box.api("POST", "/v1/projects/shop/integrations", room)).status, 201);
  const ladder = [s.step(s.ann), s.step(s.bob)];
  await s.rule(ladder, { max_open: 0, renotify_minutes: 5 });
  s.told();
  const began = s.box.clock.now();
  const cameAt = new Map<string, number>();
  const look = () => {
    for (const { path } of s.receiver.received)
      if (!cameAt.has(path)) cameAt.set(path, s.box.clock.now() - began);
  };
  const first = s.receiver.received.length;

  let n = 0;
  for (let second = 0; second < 60; second += 1) {
    const until = Math.round((ALERTS * (second + 1)) / 60);
    const lines: string[] = [];
    for (; n < until; n += 1)
      lines.push(JSON.stringify({ message: `disk ${n} is full`, level: 500, keys: { n: `${n}` } }));
    await sendLines(s, lines);
    look();
    await pass(s.box, 1);
  }
  await pass(s.box, 10, 5);

  const messages = Map.groupBy(s.receiver.received.slice(first), ({ path }) => path);
  assert.deepEqual([...messages.keys()].toSorted(), ["/ann-mail", "/ann-phone", "/bob"]);
  for (const [path, all] of messages) {
    assert.ok((cameAt.get(path) ?? Infinity) <= 1_000, `${path} came ${cameAt.get(path)} ms later`);
    assert.ok(all.length <= 60 / GAP_SECONDS + 2, `${all.length} messages to ${path}`);
    const named = all.flatMap((one) => toldIn(one).alerts.map(({ alert_id }) => Number(alert_id)));
    assert.equal(named.length, ALERTS, `${path}: each alert is named once`);
    assert.deepEqual(
      named,
      named.toSorted((a, b) => a - b),
      `${path}: oldest first`,
    );
  }

  await pass(s.box, 60, 10);
  assert.ok(chat.received.length <= 12, `${chat.received.length} messages in the room`);
  const bulk = { where: { project: "shop", state: "open" }, verb: "ack" };
  const taken = await s.box.api("POST", "/v1/alerts/bulk", bulk);
  assert.equal(taken.status, 200, JSON.stringify(taken.body));
  const before = s.receiver.received.length;
  await pass(s.box, 900, 15);
  const after = s.receiver.received.slice(before).filter((one) => toldIn(one).purpose === "page");
  assert.deepEqual(after, []);
  const open = s.box.tenant.store.sql("SELECT count(*) FROM alerts WHERE state = 'open'").pluck();
  assert.equal(open.get(), 0);
  const rows = s.box.tenant.store
    .sql("SELECT DISTINCT status FROM pages WHERE event IN ('alert.escalated', 'alert.renotified')")
    .pluck();
  assert.deepEqual(rows.all(), ["delivered"]);
});
