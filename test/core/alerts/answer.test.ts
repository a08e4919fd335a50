import assert from "node:assert/strict";
import { answerPage, answerWords, readPage } from "../../../src/core/alerts/answer.ts";
import { mergeAlerts } from "../../../src/core/alerts/merge.ts";
import { long, test } from "../../support/long.ts";
import { pagedBox } from "../../support/paged.ts";
import { pass } from "../../support/until.ts";

test("whoever answers a page by its handle has the alert, by name and by the way; to say it again changes nothing", async (t) => {
  const { box, store, ann, bob, fire, handleOf, outcomes } = await pagedBox(t);
  const [first, second] = [await fire(1), await fire(2)];
  await pass(box, 6);
  const handle = handleOf(first);
  const say = (verb: "acknowledge" | "resolve", of = handle) =>
    answerPage(store, { handle: of }, { verb });
  const answered = await say("acknowledge");
  assert.equal(answered.kind === "answered" && answered.alerts[0]?.did, true);
  const now = Math.floor(box.clock.now() / 1000);
  assert.equal(
    answerWords(answered, now),
    `Alert ${first} is acknowledged by ann@example.org, just now.`,
  );
  const again = await say("acknowledge");
  assert.equal(again.kind === "answered" && again.alerts[0]?.did, false);
  const { timeline } = (await box.api("GET", `/v1/alerts/${first}/timeline`)).body;
  const acks = timeline.filter(({ kind }: { kind: string }) => kind === "acknowledged");
  assert.deepEqual(
    acks.map((entry: { account_id: string; detail: object }) => [entry.account_id, entry.detail]),
    [[ann.accountId, { via: "webhook" }]],
  );
  assert.deepEqual(outcomes(), ["answered", "accepted"]);

  // Two at once: the one who came second is told who has it.
  await box.api("POST", `/v1/alerts/${second}/ack`, {}, bob.key);
  await box.clock.turn(120_000);
  const late = await say("acknowledge", handleOf(second));
  const words = answerWords(late, Math.floor(box.clock.now() / 1000));
  assert.equal(words, `Alert ${second} is acknowledged by bob@example.org, 2 min ago.`);
  assert.equal((await say("resolve", handleOf(second))).kind, "answered");
  assert.equal((await box.api("GET", `/v1/alerts/${second}`)).body.state, "resolved");
});

test("an answer to a message that named several takes all of them, and resolves none that wasn't chosen", async (t) => {
  const { box, store, fire, handleOf, latest, linked, sealer } = await pagedBox(t);
  const ids = [await fire(1), await fire(2), await fire(3), await fire(4)];
  await pass(box, 6);
  const [, ...named] = ids;
  assert.deepEqual(
    latest().alerts.map(({ alert_id }) => alert_id),
    named,
  );
  const key = { capability: linked(), sealer };
  assert.deepEqual(
    readPage(store, key)?.alerts.map(({ whose }) => String(whose.alertId)),
    named,
  );
  const states = async () =>
    Promise.all(ids.map(async (id) => (await box.api("GET", `/v1/alerts/${id}`)).body.state));
  assert.deepEqual(await answerPage(store, key, { verb: "resolve" }), {
    kind: "several",
    named: 3,
  });
  assert.deepEqual(await states(), ["open", "open", "open", "open"]);
  const one = Number(named[1]);
  assert.equal((await answerPage(store, key, { verb: "resolve", alertId: one })).kind, "answered");
  // What it didn't name it can't touch.
  const other = await answerPage(store, key, { verb: "resolve", alertId: Number(ids[0]) });
  assert.deepEqual(other, { kind: "unknown" });
  assert.deepEqual(await states(), ["open", "open", "resolved", "open"]);
  const answered = await answerPage(
    store,
    { handle: handleOf(named[0] ?? "") },
    { verb: "acknowledge" },
  );
  assert.deepEqual(await states(), ["open", "acknowledged", "resolved", "acknowledged"]);
  assert.equal(answerWords(answered, 0), "2 alerts acknowledged; 1 was taken or over before.");
});

long(
  "what can be answered ends with its day, its contact, its account and its alert, and an alert that became one with another is answered there",
  async (t) => {
    const { box, store, ann, pageBob, contact, fire, handleOf, linked, sealer } = await pagedBox(t);
    const first = await fire(1);
    const keys = [{ handle: handleOf(first) }, { capability: linked(), sealer }];
    const open = () => keys.map((key) => readPage(store, key) !== null);
    assert.deepEqual(open(), [true, true]);
    const path = `/v1/accounts/me/contacts/${contact}`;
    await box.api("PATCH", path, { state: "off" }, ann.key);
    assert.deepEqual(open(), [false, false]);
    await box.api("PATCH", path, { state: "verified" }, ann.key);
    assert.deepEqual(open(), [true, true]);
    await pass(box, 6);
    const second = await fire(2);
    const alerts = [Number(first), Number(second)] as const;
    const row = store.sql<[number], { template_id: string }>(
      "SELECT template_id FROM alerts WHERE id = ?",
    );
    store.write((tx) =>
      mergeAlerts(tx, alerts, {
        alertKey: "one",
        templateId: row.get(alerts[0])?.template_id ?? "",
      }),
    );
    const merged = { handle: handleOf(second) };
    const answered = await answerPage(store, merged, { verb: "acknowledge" });
    assert.equal(answered.kind === "answered" && String(answered.alerts[0]?.alertId), first);
    assert.equal((await box.api("GET", `/v1/alerts/${first}`)).body.state, "acknowledged");
    await box.clock.turn(86_400_000);
    assert.deepEqual(open(), [false, false]);
    const third = await fire(3);
    keys.splice(0, 2, { handle: handleOf(third) }, { capability: linked(), sealer });
    assert.deepEqual(open(), [true, true]);
    assert.equal((await pageBob()).status, 200);
    assert.equal((await box.api("DELETE", `/v1/accounts/${ann.accountId}`)).status, 200);
    assert.deepEqual(open(), [false, false]);
  },
);
