import assert from "node:assert/strict";
import { test } from "node:test";
import { signedIn } from "../../support/console.ts";
import { boxAndReceiver } from "../../support/contacts.ts";
import { answer } from "../../support/receiver.ts";
import { settle } from "../../support/until.ts";

const AT = "/p/shop/actions";
const from = { from: AT };

test("an action is added, run once, changed with its sealed headers kept, seen to run for an alert, and deleted", async (t) => {
  const { box, receiver } = await boxAndReceiver(t);
  const token = await box.project("shop");
  const tab = signedIn(box);
  assert.match((await tab.get(AT)).text, /The box does nothing by itself here\./);
  const fields = {
    name: "restart",
    method: "POST",
    url: `${receiver.url}/run`,
    events: "alert.opened",
    headers: "Authorization: Bearer canary0123456789\nX-Team: ops",
    enabled: "yes",
  };
  const wrong = await tab.post(AT, { ...fields, headers: "canary0123456789" }, from);
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /must be “Name: value”, one a line/);
  assert.doesNotMatch(wrong.text, /canary/);
  assert.equal((await tab.post(AT, fields, from)).status, 303);
  const page = (await tab.get(AT)).text;
  assert.match(page, /Headers Authorization, X-Team: sealed/);
  assert.match(page, /This action never ran/);
  const { id } = (await box.api("GET", "/v1/projects/shop/actions")).body.actions[0];
  receiver.once(answer(200, "done <b>it</b> canary0123456789"));
  await tab.post(`${AT}/${id}/test`, {}, from);
  assert.match((await tab.get(AT)).text, /restart ran: status 200\./);
  assert.equal(receiver.received[0]?.headers["authorization"], "Bearer canary0123456789");
  const ran = (await tab.get(AT)).text;
  assert.match(ran, /data-label="for">a test</);
  assert.match(ran, /done &lt;b&gt;it&lt;\/b&gt;/);
  assert.doesNotMatch(ran, /canary/);
  const changed = { ...fields, headers: "", name: "restart it", timeout_seconds: "5" };
  assert.equal((await tab.post(`${AT}/${id}/change`, changed, from)).status, 303);
  receiver.always(answer(500, "no"));
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors", match: { min_level: 400 } });
  await box.ingest(token, { message: "it broke", level: 400 });
  await settle(box);
  assert.equal(receiver.received.at(-1)?.headers["authorization"], "Bearer canary0123456789");
  assert.match((await tab.get(AT)).text, /<a href="\/a\/1">#1<\/a>/);
  const off = { ...changed };
  delete (off as Partial<typeof off>).enabled;
  await tab.post(`${AT}/${id}/change`, off, from);
  assert.match(
    (await tab.get(AT)).text,
    /disabled aria-describedby="[^"]+" aria-label="Run it once: restart it"/,
  );
  await tab.post(`${AT}/${id}/delete`, {}, from);
  assert.equal((await box.api("GET", "/v1/projects/shop/actions")).body.actions.length, 0);
});
