import assert from "node:assert/strict";
import { afterEach, beforeEach, describe } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { sendLines } from "../support/contacts.ts";
import { long, test } from "../support/long.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { settle, until } from "../support/until.ts";

/** A storm in a room that several people read: told together, once a minute, and nothing of it lost. */

let box: TestBox;
let token: string;
let chat: Receiver;
let hook: Receiver;
beforeEach(async () => {
  box = await testBox();
  token = await box.project("shop");
  [chat, hook] = [await startReceiver(), await startReceiver()];
});
afterEach(async () => {
  await box.stop();
  await Promise.all([chat.close(), hook.close()]);
});

const base = "/v1/projects/shop";
const rule = (name: string, more: object = {}) =>
  box.api("POST", `${base}/rules`, {
    name,
    match: { tags: [name] },
    identifier_keys: ["n"],
    max_open: 0,
    ...more,
  });
const room = async (more: object = {}) => {
  const write = { type: "slack", name: "ops", webhook_url: `${chat.url}/chat`, ...more };
  const { status, body } = await box.api("POST", `${base}/integrations`, write);
  assert.equal(status, 201, JSON.stringify(body));
  return String(body.id);
};
const open = async (name: string, ns: readonly number[], level = 400) => {
  const lines = ns.map((n) =>
    JSON.stringify({ message: `${name} ${n} failed`, level, tags: [name], keys: { n: `${n}` } }),
  );
  const answer = await fetch(`${box.url}/v1/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    body: lines.join("\n"),
  });
  assert.equal(answer.status, 202, await answer.text());
};
const range = (from: number, n: number) => Array.from({ length: n }, (_, i) => from + i);
/** What people read there. */
const told = () => chat.received.map(({ body }) => String(JSON.parse(body).text));
const full = (i: number) => JSON.stringify(JSON.parse(chat.received[i]?.body ?? "{}").blocks);
const minutes = async (n: number) => {
  for (let i = 0; i < n; i++) {
    await box.clock.turn(60_000);
    await settle(box);
  }
};
const deliveries = async (id: string) =>
  (await box.api("GET", `${base}/integrations/${id}/deliveries?limit=200`)).body.deliveries as {
    alert_id: string;
    event: string;
    status: string;
    next_attempt_at: number | null;
  }[];
const alertIds = async (): Promise<string[]> =>
  (await box.api("GET", "/v1/alerts?limit=500")).body.alerts.map(({ id }: { id: string }) => id);
const timeline = async (id: string): Promise<{ kind: string; detail: Record<string, unknown> }[]> =>
  (await box.api("GET", `/v1/alerts/${id}/timeline`)).body.timeline;

describe("a storm in a shared room", () => {
  long(
    "of 1,000 alerts in a minute is at most 12 messages that count each; a webhook gets every one",
    async () => {
      for (const name of ["payment", "mail"]) await rule(name);
      await room();
      await box.api("POST", `${base}/webhooks`, { url: hook.url });
      for (let i = 0; i < 10; i++) {
        await open("payment", range(i * 60, 60));
        await open("mail", range(i * 40, 40), 500);
        await box.clock.turn(5_000);
        await settle(box);
      }
      await minutes(4);
      await until(() => hook.received.length === 1_000, "the webhook is told of each");
      const opened = hook.received.map(({ body }) => JSON.parse(body).alert_id);
      assert.equal(new Set(opened).size, 1_000);
      const texts = told();
      assert.ok(texts.length <= 12, `${texts.length} messages`);
      const single = texts.filter((text) => text.startsWith("ERROR shop: "));
      let counted = single.length;
      for (const text of texts) counted += Number(/^(\d+) alerts? of/.exec(text)?.[1] ?? 0);
      assert.equal(counted, 1_000, texts.join("\n\n"));
      const summary = full(texts.findIndex((text) => /alerts of 2 rules in shop/.test(text)));
      assert.match(summary, /payment: 5\d\d alerts \(5\d\d open\)/);
      assert.match(summary, /mail: 400 alerts \(400 open\)/);
      assert.equal((summary.match(/#\d+ critical · mail: mail \d+ failed/g) ?? []).length, 10);
      assert.match(summary, /Acknowledge all: box ack --all --project shop\\n#.*\\nand \d+ more/);
      await minutes(3);
      assert.equal(told().length, texts.length, "nothing is told twice");
    },
  );

  test("each alert's history says with how many it was told; its delivery is delivered", async () => {
    await rule("payment");
    const id = await room({ storm_threshold: 2 });
    await open("payment", range(0, 37));
    await settle(box);
    const waiting = (await deliveries(id)).filter(({ status }) => status === "pending");
    assert.equal(waiting.length, 35);
    assert.equal(waiting[0]?.next_attempt_at, Math.floor(box.clock.now() / 1000) + 60);
    await minutes(1);
    assert.equal(told().length, 3);
    assert.match(told()[2] ?? "", /^35 alerts of rule payment in shop, first: payment 2 failed/);
    assert.match(full(2), /--project shop --rule payment/);
    await box.clock.turn(1_000);
    await settle(box);
    assert.ok((await deliveries(id)).every(({ status }) => status === "delivered"));
    const [last = ""] = await alertIds();
    const delivered = (await timeline(last)).filter(({ kind }) => kind === "delivered");
    assert.deepEqual(
      delivered.map(({ detail }) => [detail["integration"], detail["event"], detail["told_with"]]),
      [["ops", "alert.opened", 34]],
    );
  });

  test("what ends before it was told is told as opened and resolved, and by nothing else", async () => {
    await rule("payment");
    await room({ storm_threshold: 1 });
    await open("payment", range(0, 6));
    await settle(box);
    const ids = (await alertIds()).sort((a, b) => Number(a) - Number(b));
    for (const alert of ids.slice(2, 4)) await box.api("POST", `/v1/alerts/${alert}/resolve`);
    await box.api("POST", `/v1/alerts/${ids[4]}/ack`);
    await minutes(3);
    assert.equal(told().length, 2, told().join("\n\n"));
    assert.match(full(1), /payment: 5 alerts \(2 open, 1 acknowledged, 2 opened and resolved\)/);
    assert.match(full(1), new RegExp(`#${ids[2]} error, opened and resolved`));
    const first = (await timeline(ids[2] ?? "")).filter(({ kind }) => kind === "delivered");
    assert.deepEqual(
      first.map(({ detail }) => detail["event"]),
      ["alert.opened", "alert.resolved"],
    );
  });

  test("acknowledging all of it in one go is no storm of its own", async () => {
    await rule("payment");
    await room();
    await open("payment", range(0, 300));
    await minutes(3);
    const before = told().length;
    await box.api("POST", "/v1/alerts/bulk", { where: { project: "shop" }, verb: "ack" });
    await minutes(3);
    const after = told().slice(before);
    assert.ok(after.length <= 22, `${after.length} messages`);
    assert.match(after.at(-1) ?? "", /^\d+ alerts of rule payment in shop/);
    const last = full(told().length - 1);
    assert.match(last, /\(\d+ acknowledged\)/);
    assert.doesNotMatch(last, /Acknowledge all/);
  });

  test("is told by its own project, where the room is shared: what acknowledges all of it is meant for that", async () => {
    await room({ shared: true });
    const openIn = async (project: string, key: string, n: number) => {
      const lines = range(0, n).map((i) =>
        JSON.stringify({ message: `${project} ${i} failed`, level: 400, keys: { n: `${i}` } }),
      );
      await sendLines({ box, token: key }, lines);
    };
    const keys = new Map<string, string>();
    for (const name of ["mail", "web"]) {
      keys.set(name, await box.project(name));
      const write = { name: "errors", identifier_keys: ["n"], max_open: 0 };
      await box.api("POST", `/v1/projects/${name}/rules`, write);
    }
    await openIn("mail", keys.get("mail") ?? "", 30);
    await settle(box);
    await minutes(2);
    const one = told().findIndex((text) => /^20 alerts of rule errors in mail, first: /.test(text));
    assert.match(full(one), /box ack --all --project mail --rule errors/);
    assert.match(full(one), /"errors: 20 alerts \(20 open\)/);

    await openIn("web", keys.get("web") ?? "", 25);
    await openIn("mail", keys.get("mail") ?? "", 40);
    await settle(box);
    await minutes(2);
    const two = told().findIndex((text) =>
      /^25 alerts of 2 rules in 2 projects, first: /.test(text),
    );
    assert.match(full(two), /web \/ errors: 15 alerts \(15 open\)/);
    assert.match(full(two), /mail \/ errors: 10 alerts \(10 open\)/);
    assert.match(full(two), /box ack --all --project web\\nbox ack --all --project mail/);
  });

  test("is told in its own words where the room has other texts for one alert", async () => {
    await rule("payment");
    await room({ storm_threshold: 1, title_template: "{{message}}", body_template: "own" });
    await open("payment", range(0, 9));
    await minutes(1);
    assert.match(told()[0] ?? "", /^payment 0 failed/);
    assert.match(told()[1] ?? "", /^8 alerts of rule payment in shop/);
  });

  test("is over after a calm minute; few openings are told one by one, and with 0 all are", async () => {
    await rule("payment");
    await room({ storm_threshold: 3 });
    await open("payment", range(0, 4));
    await minutes(3);
    assert.equal(told().length, 4, "the fourth is told by itself, a minute later");
    await open("payment", range(10, 3));
    await settle(box);
    assert.equal(told().length, 7);
    await minutes(2);
    const ops = (await box.api("GET", `${base}/integrations`)).body.integrations[0];
    assert.equal(ops.storm_threshold, 3);
    const put = { ...ops, url: undefined, storm_threshold: 0 };
    assert.equal((await box.api("PUT", `${base}/integrations/${ops.id}`, put)).status, 200);
    await open("payment", range(20, 30));
    await settle(box);
    assert.equal(told().length, 37);
  });

  test("nothing is lost by a stop while it is held, or while its message is under way", async () => {
    await rule("payment");
    const id = await room({ storm_threshold: 1 });
    await open("payment", range(0, 5));
    await settle(box);
    await box.restart();
    chat.once(() => undefined);
    await box.clock.turn(61_000);
    await until(() => told().length === 2, "the message is under way");
    const ids = await alertIds();
    await box.api("POST", `/v1/alerts/${ids[0]}/resolve`);
    const stopped = box.restart();
    await box.clock.turn(4_000);
    await stopped;
    await minutes(4);
    const texts = told();
    assert.equal(texts[1], texts[2], "the same message again");
    assert.match(texts[1] ?? "", /^4 alerts of rule payment/);
    assert.match(texts[3] ?? "", /^1 alert of rule payment in shop/);
    assert.match(full(3), /opened and resolved|1 resolved/);
    assert.equal(texts.length, 4);
    assert.ok((await deliveries(id)).every(({ status }) => status === "delivered"));
  });

  test("a room that is down is told of all when it is back, in few messages", async () => {
    await rule("payment");
    const id = await room({ storm_threshold: 1 });
    chat.always((response) => void response.writeHead(500).end());
    for (let i = 0; i < 5; i++) {
      await open("payment", range(i * 20, 20));
      await minutes(1);
    }
    const failed = told().length;
    chat.always((response) => void response.writeHead(200).end("ok"));
    await minutes(20);
    const texts = told().slice(failed);
    const counted = texts.map((text) => Number(/^(\d+) alerts? of/.exec(text)?.[1] ?? 1));
    assert.equal(
      counted.reduce((a, b) => a + b, 0),
      100,
      texts.join("\n"),
    );
    assert.ok(texts.length <= 4, texts.join("\n"));
    assert.ok((await deliveries(id)).every(({ status }) => status === "delivered"));
  });

  test("a room that is deleted, refused or of another kind holds nothing back", async () => {
    await rule("payment");
    const id = await room({ storm_threshold: 1 });
    await open("payment", range(0, 9));
    await box.api("DELETE", `${base}/integrations/${id}`);
    await minutes(2);
    const rows = box.tenant.store
      .sql("SELECT status FROM deliveries WHERE status = 'pending'")
      .all();
    assert.deepEqual([rows, box.tenant.store.sql("SELECT * FROM storms").all()], [[], []]);
    const bad = { type: "webhook", url: hook.url, storm_threshold: 3 };
    assert.equal((await box.api("POST", `${base}/integrations`, bad)).status, 400);
    const over = { type: "slack", webhook_url: chat.url, storm_threshold: 1001 };
    assert.equal((await box.api("POST", `${base}/integrations`, over)).status, 400);
    const { id: made } = (
      await box.api("POST", `${base}/integrations`, { type: "webhook", url: hook.url })
    ).body;
    const shown = (await box.api("GET", `${base}/integrations/${made}`)).body;
    assert.equal("storm_threshold" in shown, false);
    assert.equal(
      (await box.api("PUT", `${base}/integrations/${made}`, { ...shown, name: "n" })).status,
      200,
    );
  });
});
