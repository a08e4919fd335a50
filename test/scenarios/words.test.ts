import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { testProject } from "../support/channels.ts";
import { handClock } from "../support/clock.ts";
import { answer, type Receiver, startReceiver } from "../support/receiver.ts";
import { settle, through } from "../support/until.ts";

let box: TestBox;
let chat: Receiver;
let hook: Receiver;
before(async () => {
  [chat, hook] = [await startReceiver(), await startReceiver()];
  box = await testBox({ publicUrl: "https://box.example" }, handClock());
});
after(async () => {
  await Promise.all([chat.close(), hook.close()]);
  await through(box, box.stop());
});

test("a chat is told names and what to do, each attempt the same words; the webhook's body stays the contract's", async () => {
  const { body: me } = await box.api("GET", "/v1/accounts");
  const [{ id: account }] = me.accounts;
  const shop = await testProject(box, "shop", {
    runbook_url: "https://wiki.example/down",
    escalations: [{ accounts: [account] }],
  });
  await shop.webhook(hook.url);
  const { body: made } = await box.api("POST", "/v1/projects/shop/integrations", {
    type: "mattermost",
    webhook_url: `${chat.url}/hooks/x`,
    events: ["alert.escalated"],
  });
  const rename = (name: string) =>
    box.tenant.store.write((tx) =>
      tx
        .sql<[string, string]>("UPDATE accounts SET display_name = ? WHERE id = ?")
        .run(name, account),
    );
  rename("Ann Ok");
  chat.once(answer(500), answer(200, "ok"));
  await shop.fire(1);
  await settle(box);
  rename("Somebody Else");
  await box.clock.turn(60_000);
  await settle(box);

  const bodies = chat.received.map(({ body }) => body);
  assert.equal(bodies.length, 2);
  assert.equal(bodies[0], bodies[1]);
  const [{ text, title_link }] = JSON.parse(bodies[0] ?? "").attachments;
  assert.equal(
    text,
    [
      "```\nk = 1\n```",
      "Pages Ann Ok \\(rung 1\\)",
      "Next: nobody, the ladder has run",
      "[Runbook](https://wiki.example/down)",
    ].join("\n"),
  );
  assert.equal(title_link, "https://box.example/a/1");
  assert.equal((await shop.deliveries(made.id))[0]?.attempts, 2);

  const sent = hook.received.map(({ body }) => JSON.parse(body));
  assert.deepEqual(Object.keys(sent.find(({ event }) => event === "alert.escalated")), [
    "event",
    "event_id",
    "alert_id",
    "project",
    "rule",
    "state",
    "template",
    "level",
    "count",
    "first_seen",
    "last_seen",
    "last_message",
    "identifiers",
    "investigate",
    "escalation_level",
    "page_accounts",
    "timestamp",
    "tenant_id",
  ]);
  assert.ok(hook.received.every(({ body }) => !body.includes("Ann Ok")));
});

test("a rule's runbook is a web address or none", async () => {
  await box.project("place");
  const write = (runbook_url: string) =>
    box.api("POST", "/v1/projects/place/rules", { name: "r", runbook_url });
  for (const bad of ["javascript:alert(1)", "ftp://a.test/", "wiki/page", "https://u:p@a.test/"]) {
    const { status, body } = await write(bad);
    assert.deepEqual([status, body.error.details[0].field], [400, "/runbook_url"], bad);
  }
  assert.equal((await write(`https://a.test/${"x".repeat(2_048)}`)).status, 400);
  assert.equal((await write("http://wiki.lan/page")).body.runbook_url, "http://wiki.lan/page");
});

test("a channel has texts of its own; a bad one is refused with its place, one that can't be made is left for the usual", async () => {
  const shop = await testProject(box, "own");
  const base = "/v1/projects/own/integrations";
  const room = { type: "mattermost", webhook_url: `${chat.url}/hooks/own` };
  const texts = {
    title_template:
      "{{project}}: {{#is_opened}}new{{/is_opened}} {{level_name}} <{{identifiers.k}}>",
    body_template:
      "{{message}}\n{{#identifier_list}}\n{{key}}={{value}}\n{{/identifier_list}}\n{{link}}",
  };
  const refused = await box.api("POST", base, { ...room, body_template: "ok\n {{#rule}}" });
  assert.deepEqual(
    [refused.status, refused.body.error.details],
    [
      400,
      [{ field: "/body_template", reason: 'line 2, column 2: section "rule" is never closed' }],
    ],
  );
  const webhook = await box.api("POST", base, {
    type: "webhook",
    url: hook.url,
    title_template: "x",
  });
  assert.deepEqual([webhook.status, webhook.body.error.details[0].field], [400, "/title_template"]);

  const { body: made } = await box.api("POST", base, { ...room, ...texts });
  const read = async () => (await box.api("GET", `${base}/${made.id}`)).body;
  const { title_template, body_template } = await read();
  assert.deepEqual({ title_template, body_template }, texts);
  const posted = async (k: string) => {
    const before = chat.received.length;
    chat.once(answer(200, "ok"));
    await shop.fire(k);
    await settle(box);
    const { text, attachments } = JSON.parse(chat.received[before]?.body ?? "");
    return [text, attachments[0].text.replace(/^```\n|\n```$/g, "")];
  };
  assert.deepEqual(await posted("a"), [
    "own: new error \\<a\\>",
    `it is down\nk=a\nhttps://box.example/a/${await latest()}`,
  ]);

  // Too much work with many identifiers only: the usual words go out.
  const nested = "{{#identifier_list}}".repeat(8) + "{{/identifier_list}}".repeat(8);
  box.tenant.store.write((tx) =>
    tx
      .sql<[string, string]>("UPDATE integrations SET body_template = ? WHERE id = ?")
      .run(`${nested}{{#rule}}`, made.id),
  );
  assert.deepEqual(await posted("b"), ["ERROR own: it is down", "k = b"]);

  assert.equal((await box.api("PUT", `${base}/${made.id}`, { body_template: "" })).status, 200);
  assert.equal((await read()).title_template, texts.title_template);
  assert.deepEqual(await posted("c"), ["own: new error \\<c\\>", "it is down\nk = c"]);
});

async function latest(): Promise<string> {
  return (await box.api("GET", "/v1/alerts?limit=1")).body.alerts[0].id;
}
