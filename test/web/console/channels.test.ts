import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { signature as sign } from "../../../src/ground/kit/sign.ts";
import { signedIn } from "../../support/console.ts";
import { boxAndReceiver } from "../../support/contacts.ts";
import { answer } from "../../support/receiver.ts";
import { settle } from "../../support/until.ts";

const LIST = "/p/shop/channels";
const at = { from: LIST };

/** A project with a rule whose alerts a webhook is told of. */
async function story(t: TestContext) {
  const { box, receiver } = await boxAndReceiver(t);
  const token = await box.project("shop");
  const rule = { name: "errors", match: { min_level: 400 }, identifier_keys: ["n"] };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  const tab = signedIn(box);
  const open = async (n: number) => {
    await box.ingest(token, { message: `payment ${n} failed`, level: 400, keys: { n: String(n) } });
    await settle(box);
  };
  const added = async (fields: Record<string, string> = {}) => {
    const write = { type: "webhook", name: "tickets", url: `${receiver.url}/hook`, ...fields };
    const made = await tab.post(LIST, write, { from: `${LIST}?type=webhook` });
    assert.ok(made.status < 400, made.text);
    const { integrations } = (await box.api("GET", "/v1/projects/shop/integrations")).body;
    return {
      made,
      id: integrations.at(-1).id as string,
      page: `${LIST}/${integrations.at(-1).id}`,
    };
  };
  return { box, receiver, tab, token, open, added };
}

test("a channel is added by its kind's own fields, tested, turned off and on, changed and deleted, without script", async (t) => {
  const { box, receiver, tab, added } = await story(t);
  assert.match((await tab.get(LIST)).text, /No channel gets the alerts of shop\./);
  const offered = [...(await tab.get(LIST)).text.matchAll(/href="[^"]*\?type=(\w+)"/g)];
  assert.deepEqual(
    offered.map(([, kind]) => kind),
    "slack teams email webhook telegram discord google_chat mattermost gotify matrix ntfy pushover signal".split(
      " ",
    ),
    "what most teams use stands first",
  );
  const form = (await tab.get(`${LIST}?type=telegram`)).text;
  assert.match(form, /name="chat_id" type="password"/);
  assert.doesNotMatch(form, /name="webhook_url"/);
  const { made, page } = await added();
  const secret = /<pre class="code" id="secret-text">([^<]+)</.exec(made.text)?.[1] ?? "";
  assert.ok(secret.length > 20);
  assert.ok(!(await tab.get(LIST)).text.includes(secret), "the secret is shown once");
  assert.match((await tab.get(LIST)).text, /never tried: send a test/);
  await tab.post(`${page}/test`, {}, at);
  assert.match((await tab.get(LIST)).text, /The test got through\./);
  assert.equal(receiver.received.length, 1);
  await tab.post(`${page}/disable`, {}, { from: page });
  const off = (await tab.get(page)).text;
  assert.match(off, /off<\/span> since .*; owner@example\.org turned it off/);
  assert.match(off, /It is off: turn it on first\./);
  await tab.post(`${page}/enable`, {}, { from: page });
  const changed = { name: "desk", url: `${receiver.url}/desk`, events: "alert.opened" };
  assert.equal((await tab.post(`${page}/change`, changed, { from: page })).status, 303);
  const { integrations } = (await box.api("GET", "/v1/projects/shop/integrations")).body;
  assert.deepEqual(
    [integrations[0].name, integrations[0].url, integrations[0].event_filter],
    ["desk", changed.url, "alert.opened"],
  );
  const gone = await tab.post(`${page}/delete`, {}, { from: page });
  assert.equal(gone.headers.get("location"), LIST);
  assert.equal((await tab.get(page)).status, 404);
});

test("what is tried first is stored only once it gets through, and says what came", async (t) => {
  const { box, receiver, tab } = await story(t);
  receiver.once(answer(403, "no <b>such</b> room"));
  const write = {
    type: "webhook",
    name: "x",
    url: `${receiver.url}/hook`,
    secret: "canary-of-a-secret",
    try: "first",
  };
  const refused = await tab.post(LIST, write, { from: `${LIST}?type=webhook` });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /Nothing is stored: the test didn&#39;t get through/);
  assert.match(refused.text, /“no &lt;b&gt;such&lt;\/b&gt; room”/);
  assert.doesNotMatch(refused.text, /canary-of-a-secret/);
  assert.match(refused.text, new RegExp(`value="${receiver.url}/hook"`), "what isn't secret stays");
  assert.equal(
    (await box.api("GET", "/v1/projects/shop/integrations")).body.integrations.length,
    0,
  );
  const saved = await tab.post(LIST, write, { from: `${LIST}?type=webhook` });
  assert.equal(saved.headers.get("location"), LIST);
  assert.match((await tab.get(LIST)).text, /It got through, and the channel is added\./);
  const bad = await tab.post(
    LIST,
    { type: "webhook", url: "ftp://x" },
    { from: `${LIST}?type=webhook` },
  );
  assert.ok(bad.status >= 400);
  assert.match(bad.text, /aria-invalid="true"/);
});

test("AC-17.1 a receiver that fails shows as failing after the attempt and works after it recovered, told by the page's topic", async (t) => {
  const { box, receiver, tab, open, added } = await story(t);
  const { id } = await added();
  await open(1);
  assert.match(
    (await tab.sections(LIST, "list")).text,
    /<span class="good">works<\/span>, last took something/,
  );
  receiver.always(answer(503));
  const { next } = box.tenant.changes.after(null);
  await open(2);
  assert.ok(box.tenant.changes.after(next).topics.includes(`deliveries:${id}`));
  const failing = (await tab.sections(LIST, "list")).text;
  assert.match(failing, new RegExp(`data-live="[^"]*deliveries:${id}`));
  assert.match(
    failing,
    /failing for <time[^>]*>[^<]*<\/time><\/span>: it answered 503; next try (in <time|now)/,
  );
  assert.match(failing, /1 message waits; turns itself off from/);
  receiver.always(answer(204));
  await box.clock.turn(120_000);
  await settle(box);
  assert.match((await tab.sections(LIST, "list")).text, /<span class="good">works<\/span>/);
});

test("AC-17.2 no credential is in any page, in forms for changing neither", async (t) => {
  const { box, receiver, tab, open } = await story(t);
  const canary = "canary0123456789abcdef";
  const write = {
    type: "webhook",
    name: "tickets",
    url: `${receiver.url}/hook`,
    secret: canary,
  };
  assert.equal((await box.api("POST", "/v1/projects/shop/integrations", write)).status, 201);
  const slack = { type: "slack", webhook_url: `${receiver.url}/services/${canary}` };
  assert.equal((await box.api("POST", "/v1/projects/shop/integrations", slack)).status, 201);
  receiver.always(answer(200, `who said ${canary}?`));
  await open(1);
  const { integrations } = (await box.api("GET", "/v1/projects/shop/integrations")).body;
  const pages = [LIST];
  for (const { id } of integrations) {
    const { deliveries } = (await box.api("GET", `/v1/projects/shop/integrations/${id}/deliveries`))
      .body;
    assert.equal(deliveries.length, 1);
    pages.push(`${LIST}/${id}`, `${LIST}/${id}/deliveries/${deliveries[0].id}`);
  }
  for (const page of pages) assert.doesNotMatch((await tab.get(page)).text, /canary0123/, page);
  const edit = `${LIST}/${integrations[1].id}`;
  const back = await tab.post(
    `${edit}/change`,
    { webhook_url: `ftp://x/${canary}` },
    { from: edit },
  );
  assert.ok(back.status >= 400);
  assert.doesNotMatch(back.text, /canary0123/, "nor what came back");
});

test("a delivery shows what was sent and each try; it is sent again with its id, and a signature is checked", async (t) => {
  const { box, receiver, tab, open, added } = await story(t);
  const { made, id, page } = await added();
  const secret = /id="secret-text">([^<]+)</.exec(made.text)?.[1] ?? "";
  receiver.once(answer(503, "upstream down"));
  await open(1);
  await box.clock.turn(120_000);
  await settle(box);
  const listed = (await tab.get(page)).text;
  const did = new RegExp(`${page}/deliveries/(\\d+)"`).exec(listed)?.[1];
  const delivery = `${page}/deliveries/${did}`;
  const shown = (await tab.get(delivery)).text;
  assert.match(shown, /try 1: <span class="wrong">it answered 503<\/span>, status 503 in \d+ ms/);
  assert.match(shown, /It answered: <span class="message">“upstream down”/);
  assert.match(shown, /try 2: <span class="good">accepted<\/span>, status 204/);
  assert.match(shown, /X-Service-Signature: \[sealed\]/);
  assert.match(shown, /&quot;event&quot;:&quot;alert\.opened&quot;/);
  const again = await tab.post(`${delivery}/resend`, {}, { from: delivery });
  assert.match(again.headers.get("location") ?? "", new RegExp(`^${page}/deliveries/\\d+$`));
  await settle(box);
  const [first, , second] = receiver.received;
  assert.equal(first?.body, second?.body);
  const ask = (query: string) =>
    box.api("GET", `/v1/projects/shop/integrations/${id}/deliveries?${query}`);
  assert.equal(
    (await ask("status=delivered&event=alert.opened&alert=1")).body.deliveries.length,
    2,
  );
  assert.equal((await ask("status=failed")).body.deliveries.length, 0);
  assert.equal((await ask("status=odd")).status, 400);
  for (const query of ["?status=failed", "?event=alert.resolved", "?alert=99"])
    assert.match((await tab.get(page + query)).text, /No delivery matches the filter\./, query);
  for (const query of ["?status=delivered", "?event=alert.opened", "?alert=%231"])
    assert.doesNotMatch(
      (await tab.get(page + query)).text,
      /No delivery matches the filter\./,
      query,
    );
  const body = '{"a":1}';
  const timestamp = Math.floor(box.clock.now() / 1000);
  const signature = sign(secret, timestamp, body);
  const check = (fields: Record<string, string>) =>
    tab.post(
      `${delivery}/check`,
      { timestamp: String(timestamp), signature, body, ...fields },
      { from: delivery },
    );
  await check({});
  assert.match((await tab.get(delivery)).text, /It is signed with the stored secret\./);
  await check({ body: "other" });
  assert.match((await tab.get(delivery)).text, /It isn&#39;t: The signature is not of this body/);
  assert.equal(id.length, 16);
});

test("AC-17.3 sending a dropped one again is refused with its reason", async (t) => {
  const { box, receiver, tab, open, added } = await story(t);
  const { page } = await added();
  receiver.always(answer(503));
  await open(1);
  await tab.post("/a/1/ack", {}, { from: "/alerts" });
  await settle(box);
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE deliveries SET status = 'dropped', next_attempt_ms = NULL WHERE id = 1").run(),
  );
  const delivery = `${page}/deliveries/1`;
  const shown = (await tab.get(delivery)).text;
  assert.match(
    shown,
    /<button class="button second" disabled aria-describedby="[^"]+">Send again<\/button><span[^>]*>The delivery was dropped on purpose/,
  );
  const refused = await tab.post(`${delivery}/resend`, {}, { from: delivery });
  assert.equal(refused.status, 409);
  assert.match(refused.text, /Not done: The delivery was dropped on purpose/);
});

test("a delivery that waits for a channel that is off says so, not when it is tried next", async (t) => {
  const { box, receiver, tab, open, added } = await story(t);
  const { page } = await added();
  receiver.always(answer(503));
  await open(1);
  await settle(box);
  const delivery = `${page}/deliveries/1`;
  assert.match((await tab.get(delivery)).text, /; next try /);
  await tab.post(`${page}/disable`, {}, { from: page });
  const off = (await tab.get(delivery)).text;
  assert.match(off, /waiting<\/span>: [^;]*; it is tried once the channel is turned on/);
  assert.doesNotMatch(off, /next try/);
});

test("AC-17.4 a 410 shows the channel as off with the receiver's words, which stay text", async (t) => {
  const { box, receiver, tab, open, added } = await story(t);
  const { page } = await added();
  receiver.always(answer(410, "chat <script>trap(1)</script> is gone"));
  await open(1);
  await box.clock.turn(120_000);
  await settle(box);
  const shown = (await tab.get(page)).text;
  assert.match(shown, /off<\/span> since .*; its receiver asked for no more/);
  assert.match(shown, /“chat &lt;script&gt;trap\(1\)&lt;\/script&gt; is gone”/);
  assert.match((await tab.get(LIST)).text, /Turn on/);
});

test("how much was delivered within 7 days is said, and a hundred only where all was", async (t) => {
  const { box, receiver, tab, open, added } = await story(t);
  const { page } = await added();
  assert.doesNotMatch((await tab.get(page)).text, /delivered in 7 days/, "nothing ended yet");
  await open(1);
  assert.match((await tab.get(page)).text, /100 % of 1 delivered in 7 days/);
  for (let n = 2; n < 5; n++) await open(n);
  box.tenant.store.write((tx) =>
    tx
      .sql("UPDATE deliveries SET status = 'failed' WHERE id = (SELECT max(id) FROM deliveries)")
      .run(),
  );
  assert.match((await tab.get(page)).text, /class="warn">75 % of 4 delivered in 7 days/);
  assert.match((await tab.get(LIST)).text, /75 % of 4 delivered in 7 days/);
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE deliveries SET finished_at = finished_at - ?").run(8 * 86_400),
  );
  assert.doesNotMatch((await tab.get(page)).text, /delivered in 7 days/);
  assert.ok(receiver.received.length >= 4);
});

test("a room's threshold and its own texts are changed on its page; what is no template is told at its field", async (t) => {
  const { box, tab } = await story(t);
  const hook = "https://hooks.example.org/services/x";
  const made = await tab.post(LIST, { type: "slack", name: "ops", webhook_url: hook }, at);
  assert.equal(made.status, 303, made.text);
  const channel = async () =>
    (await box.api("GET", "/v1/projects/shop/integrations")).body.integrations[0];
  const { id, storm_threshold } = await channel();
  assert.equal(storm_threshold, 10);
  const page = `${LIST}/${id}`;
  const text = (await tab.get(page)).text;
  assert.match(text, /name="storm_threshold" type="number" value="10"/);
  const change = (fields: Record<string, string>) =>
    tab.post(`${page}/change`, { name: "ops", ...fields }, { from: page });
  const bad = await change({ title_template: "{{#title}}", body_template: "x" });
  assert.equal(bad.status, 422);
  assert.match(bad.text, /name="title_template"[^>]* aria-invalid="true"/);
  assert.match(bad.text, /name="body_template"[^>]*>\nx<\/textarea>/, "what was typed stays");
  const texts = { title_template: "{{project}}: {{title}}", body_template: "{{facts}}" };
  assert.equal((await change({ ...texts, storm_threshold: "3" })).status, 303);
  const saved = await channel();
  assert.deepEqual(
    [saved.storm_threshold, saved.title_template, saved.body_template],
    [3, "{{project}}: {{title}}", "{{facts}}"],
  );
  assert.equal((await change({ title_template: "", body_template: "" })).status, 303);
  assert.deepEqual([(await channel()).title_template, (await channel()).storm_threshold], ["", 3]);
  const { page: webhook } = { page: `${LIST}?type=webhook` };
  assert.doesNotMatch((await tab.get(webhook)).text, /storm_threshold|title_template/);
});
