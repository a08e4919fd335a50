import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { answerStory, hear } from "../../support/answers.ts";
import { long, test } from "../../support/long.ts";
import type { Behaviour } from "../../support/receiver.ts";
import { settle } from "../../support/until.ts";

interface Action {
  label: string;
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** An ntfy server: publishing by JSON at the root or by a topic's path, and reading topics from a message on. */
function ntfyServer() {
  const published: { topic: string; actions?: Action[] }[] = [];
  const topics = new Map<string, { id: string; event: string; message: string }[]>();
  const looks: string[] = [];
  const behaviour: Behaviour = (response, _socket, { method, path, body }) => {
    const { pathname, searchParams } = new URL(path, "http://x");
    if (pathname === "/v1/account") return void response.writeHead(200).end('{"username":"*"}');
    if (method === "POST" && pathname === "/") {
      published.push(JSON.parse(body));
      return void response.writeHead(200).end(JSON.stringify({ id: `m${published.length}` }));
    }
    const [, topic = "", isRead] = /^\/([-\w]+)(\/json)?$/.exec(pathname) ?? [];
    const messages = topics.get(topic) ?? [];
    topics.set(topic, messages);
    if (isRead === undefined) {
      messages.push({ id: `a${messages.length}`, event: "message", message: body });
      return void response.writeHead(200).end("{}");
    }
    const since = searchParams.get("since") ?? "";
    looks.push(since);
    const after = messages.findIndex(({ id }) => id === since) + 1;
    const lines = messages.slice(after).map((one) => `${JSON.stringify(one)}\n`);
    response.writeHead(200).end(lines.join(""));
  };
  /** A tap on a button of a notification, as the app does it. */
  const tap = async (actions: Action[], label: string) => {
    const action = actions.find((one) => one.label === label);
    assert.ok(action, `there is a button ${label}`);
    assert.equal((await fetch(action.url, action)).status, 200);
  };
  return { behaviour, published, looks, tap };
}

async function story(t: TestContext) {
  const told = await answerStory(t);
  const server = ntfyServer();
  told.receiver.always(server.behaviour);
  await told.gateway("ntfy", {});
  await told.contact(told.ann, "ntfy", "ann-9f86d081");
  const looked = async (seconds: number) => {
    const before = server.looks.length;
    await hear(told.box, seconds);
    return server.looks.length - before;
  };
  return { ...told, ...server, looked };
}

long(
  "a button on a phone that can't reach the box posts to the second topic, which is read only while a page can be answered",
  async (t) => {
    const { box, ann, page, tap, stands, looked, published } = await story(t);
    assert.equal(await looked(120), 0);
    const first = await page(ann);
    const often = await looked(60);
    assert.ok(often >= 11 && often <= 13, `${often} looks in the first minute`);
    const actions = published.at(-1)?.actions ?? [];
    assert.deepEqual(
      actions.map(({ label, url }) => [label, new URL(url).pathname.slice(0, 5)]),
      [
        ["Acknowledge", "/box-"],
        ["Resolve", "/box-"],
      ],
    );
    await tap(actions, "Acknowledge");
    await looked(6);
    assert.equal(await stands(first), "acknowledged by ann via ntfy");

    // The same notification can still resolve an acknowledged alert; the topic is read less and less often.
    await looked(300);
    const slower = await looked(600);
    assert.ok(slower >= 38 && slower <= 42, `${slower} looks in ten minutes`);
    await tap(actions, "Resolve");
    await looked(16);
    assert.equal(await stands(first), "resolved by ann via ntfy");
    await settle(box);
    assert.equal(await looked(300), 0);
  },
);

test("answers are read once, over a restart and a failed write, and strangers' messages are ignored", async (t) => {
  const { box, ann, page, tap, stands, looked, looks, published } = await story(t);
  const first = await page(ann);
  const actions = published.at(-1)?.actions ?? [];
  const topic = actions[0]?.url ?? "";
  for (const body of ["ack", "ack aaaaaaaaaaaa", "resolve everything", "\u0000"])
    await fetch(topic, { method: "POST", body });
  await looked(12);
  assert.equal(await stands(first), "open");
  assert.equal(looks.at(-1), "a3");

  box.tenant.store.db.exec(`CREATE TRIGGER fail BEFORE UPDATE OF state ON alerts
    BEGIN SELECT RAISE(ABORT, 'no acknowledgement'); END`);
  await tap(actions, "Acknowledge");
  await looked(6);
  assert.equal(await stands(first), "open");
  await box.restart();
  box.tenant.store.db.exec("DROP TRIGGER fail");
  await looked(12);
  assert.ok(looks.slice(0, -1).includes("a3"));
  assert.equal(await stands(first), "acknowledged by ann via ntfy");
  assert.equal(looks.at(-1), "a4");
});

test("an answer that can't be written doesn't delay the next ones", async (t) => {
  const { box, ann, page, tap, stands, looked, published } = await story(t);
  const first = await page(ann);
  const stuck = published.at(-1)?.actions ?? [];
  await looked(6);
  const second = await page(ann);
  await tap(stuck, "Acknowledge");
  await tap(published.at(-1)?.actions ?? [], "Acknowledge");
  box.tenant.store.db.exec(`CREATE TRIGGER fail BEFORE UPDATE OF state ON alerts WHEN OLD.id = ${first}
    BEGIN SELECT RAISE(ABORT, 'no acknowledgement'); END`);
  await looked(12);
  assert.deepEqual(
    [await stands(first), await stands(second)],
    ["open", "acknowledged by ann via ntfy"],
  );
  box.tenant.store.db.exec("DROP TRIGGER fail");
  await looked(130);
  assert.equal(await stands(first), "acknowledged by ann via ntfy");
});

test("a topic that can't be read is the gateway's error while it lasts", async (t) => {
  const { box, ann, page, looked, gatewayError, receiver, behaviour } = await story(t);
  await page(ann);
  receiver.always((response, socket, request) => {
    if (request.path.includes("/json")) response.writeHead(503).end();
    else behaviour(response, socket, request);
  });
  await looked(30);
  assert.equal(await gatewayError("ntfy"), "answers: the topic for answers can't be read");
  receiver.always(behaviour);
  await looked(65);
  assert.equal(await gatewayError("ntfy"), null);
  assert.equal((await box.api("DELETE", "/v1/gateways/ntfy")).status, 200);
  await looked(5);
  assert.equal(await looked(120), 0);
});
