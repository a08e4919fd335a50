import assert from "node:assert/strict";
import { test } from "node:test";
import { answerPage, readPage } from "../../../src/core/alerts/answer.ts";
import { capabilityOf } from "../../../src/out/paging/capability.ts";
import { messageName } from "../../../src/out/paging/message-name.ts";
import { receiptOf } from "../../../src/out/paging/shown.ts";
import { pageTexted } from "../../../src/out/paging/texted.ts";
import { pagedBox } from "../../support/paged.ts";
import { answer } from "../../support/receiver.ts";
import { pass } from "../../support/until.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };

type Paged = Awaited<ReturnType<typeof pagedBox>>;

/** Alert 1 was told of alone; then it pages again, together with alert 2, which is new. */
async function toldTwice({ box, fire, linked, receiver }: Paged, second = answer(204)) {
  const first = await fire(1);
  const old = linked();
  await box.api("POST", `/v1/alerts/${first}/ack`);
  await box.api("POST", `/v1/alerts/${first}/unack`);
  receiver.once(second);
  const other = await fire(2);
  await pass(box, 6);
  return { first, other, old };
}

const press = (box: Paged["box"], capability: string, body = "verb=acknowledge") =>
  fetch(`${box.url}/ack/${capability}`, { method: "POST", headers: FORM, body });

const statesOf = ({ box }: Paged, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await box.api("GET", `/v1/alerts/${id}`)).body.state));

test("an old message's link answers what that message named, and no alert that a later one named beside it", async (t) => {
  const paged = await pagedBox(t);
  const { box, latest, linked } = paged;
  const { first, other, old } = await toldTwice(paged);
  assert.deepEqual(
    latest().alerts.map(({ alert_id }) => alert_id),
    [first, other],
  );
  const page = await (await fetch(`${box.url}/ack/${old}`)).text();
  assert.doesNotMatch(page, new RegExp(`Alert ${other}\\b`));
  assert.equal((await press(box, old, `verb=acknowledge&alert=${other}`)).status, 404);
  assert.equal((await press(box, old)).status, 200);
  assert.deepEqual(await statesOf(paged, [first, other]), ["acknowledged", "open"]);
  assert.equal((await press(box, linked())).status, 200);
  assert.deepEqual(await statesOf(paged, [first, other]), ["acknowledged", "acknowledged"]);
});

test("nothing is answered by a message that didn't get through; once it did, all that it named", async (t) => {
  const paged = await pagedBox(t);
  const { box, store, sealer, linked, handleOf } = paged;
  const { first, other, old } = await toldTwice(paged, answer(503));
  const failed = linked();
  assert.notEqual(failed, old);
  assert.equal((await press(box, failed)).status, 404);
  assert.deepEqual(await answerPage(store, { handle: handleOf(other) }, { verb: "acknowledge" }), {
    kind: "unknown",
  });
  assert.deepEqual(
    readPage(store, { capability: old, sealer })?.alerts.map(({ named }) => String(named)),
    [first],
  );
  await press(box, old);
  assert.deepEqual(await statesOf(paged, [first, other]), ["acknowledged", "open"]);
  await pass(box, 30);
  assert.equal((await press(box, linked())).status, 200);
  assert.deepEqual(await statesOf(paged, [first, other]), ["acknowledged", "acknowledged"]);
});

test("of two attempts at one message each link answers what its own attempt named", async (t) => {
  const paged = await pagedBox(t);
  const { box, fire, linked, latest, receiver } = paged;
  receiver.once(answer(503));
  const first = await fire(1);
  const lost = linked();
  await fire(2);
  await pass(box, 60);
  const [, second = ""] = latest().alerts.map(({ alert_id }) => alert_id);
  assert.equal(latest().alerts.length, 2);
  assert.notEqual(linked(), lost);
  // Its service had it after all: of what it named alone nothing else is known.
  assert.equal((await press(box, lost)).status, 200);
  assert.deepEqual(await statesOf(paged, [first, second]), ["acknowledged", "open"]);
  assert.equal((await press(box, linked())).status, 200);
  assert.deepEqual(await statesOf(paged, [first, second]), ["acknowledged", "acknowledged"]);
});

test("a link of before messages had names answers its alert alone, and only where the person was told of it", async (t) => {
  const paged = await pagedBox(t);
  const { box, ann, contact, sealer } = paged;
  const { first, other } = await toldTwice(paged);
  const of = (alertId: number) =>
    capabilityOf(sealer, {
      tenantId: box.tenant.id,
      alertId,
      accountId: ann.accountId,
      contactId: contact,
      until: Math.floor(box.clock.now() / 1000) + 60,
    });
  assert.equal((await press(box, of(Number(other)))).status, 404);
  assert.equal((await press(box, of(Number(first)))).status, 200);
  assert.deepEqual(await statesOf(paged, [first, other]), ["acknowledged", "open"]);
});

test("a device that shows one attempt keeps no alert from being told that only the next attempt names", async (t) => {
  const paged = await pagedBox(t);
  const { box, store, sealer, contact, fire, receiver, latest } = paged;
  receiver.always(answer(503));
  const first = await fire(1);
  const attempt = store.sql("SELECT id FROM pages").all() as [{ id: number }];
  const other = await fire(2);
  await pass(box, 7);
  assert.deepEqual(
    latest().alerts.map(({ alert_id }) => alert_id),
    [first, other],
  );
  const receipt = receiptOf(sealer, {
    tenantId: box.tenant.id,
    contactId: contact,
    name: messageName(attempt),
    until: Math.floor(box.clock.now() / 1000) + 60,
  });
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ receipt });
  const seen = await fetch(`${box.url}/push/seen`, { method: "POST", headers, body });
  assert.equal(seen.status, 204);
  receiver.always(answer(204));
  await pass(box, 60);
  assert.deepEqual(
    latest().alerts.map(({ alert_id }) => alert_id),
    [other],
  );
});

test("a text without a number means the one alert that is left, also where it was told twice", async (t) => {
  const paged = await pagedBox(t);
  const { box, store, contact } = paged;
  const { first, other } = await toldTwice(paged);
  await box.api("POST", `/v1/alerts/${other}/ack`);
  const now = Math.floor(box.clock.now() / 1000);
  const meant = pageTexted(store, now, { contactId: contact, which: "", verb: "acknowledge" });
  assert.deepEqual(meant.kind === "page" && meant.alertId, Number(first));
});
