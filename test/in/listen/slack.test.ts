import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { answerStory } from "../../support/answers.ts";
import { jsonOf, SLACK_APP_TOKEN, SLACK_TOKEN, slackWorkspace } from "../../support/chats.ts";
import type { Behaviour } from "../../support/receiver.ts";
import { startTalkServer } from "../../support/talk-server.ts";
import { busy, pass, settle } from "../../support/until.ts";

const ANN = "U0ANN1234";
const BOB = "U0BOB1234";

interface Block {
  type: string;
  elements?: { action_id?: string; value?: string }[];
}

async function story(t: TestContext) {
  /** Slack takes words for a person, and answers later. */
  const held = { isHeld: false, answers: [] as (() => void)[] };
  const answerHeld = () => {
    held.isHeld = false;
    for (const answer of held.answers.splice(0)) answer();
  };
  // Before the box is stopped: it waits for these answers.
  t.after(answerHeld);
  const told = await answerStory(t);
  const server = await startTalkServer();
  t.after(() => server.close());
  const workspace = slackWorkspace([ANN, BOB]);
  const whispers: { channel: string; user: string; text: string }[] = [];
  let lines = 0;
  let refusal: string | null = null;
  const slack: Behaviour = (response, socket, request) => {
    const say = (body: object) =>
      void response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(body));
    if (request.path === "/api/apps.connections.open") {
      assert.equal(request.headers["authorization"], `Bearer ${SLACK_APP_TOKEN}`);
      if (refusal !== null) return say({ ok: false, error: refusal });
      return say({ ok: true, url: `${server.url}/link/?ticket=${++lines}` });
    }
    if (request.path === "/api/chat.postEphemeral") {
      whispers.push(jsonOf(request));
      return held.isHeld ? void held.answers.push(() => say({ ok: true })) : say({ ok: true });
    }
    workspace.behaviour(response, socket, request);
  };
  told.receiver.always(slack);
  const { box, ann, bob } = told;
  const settings = {
    bot_token: SLACK_TOKEN,
    app_token: SLACK_APP_TOKEN,
    url: `${told.receiver.url}/api`,
  };
  const peer = () => server.peers.filter(({ isOpen }) => isOpen).at(-1);
  /** Waits for a further connection, and greets it. */
  const greet = async (nth: number) => {
    await busy(box, () => server.peers.length >= nth && peer() !== undefined, `line ${nth}`);
    peer()?.say(JSON.stringify({ type: "hello", num_connections: 1 }));
  };
  const open = async () => {
    await told.gateway("slack", settings);
    await told.contact(ann, "slack", ANN);
    await told.contact(bob, "slack", BOB);
    await greet(1);
  };
  /** The handle of the newest message's buttons. */
  const handle = () => {
    const blocks = ([...workspace.messages.values()].at(-1)?.["blocks"] ?? []) as Block[];
    return blocks.find(({ type }) => type === "actions")?.elements?.[0]?.value ?? "";
  };
  let presses = 0;
  /** Presses a button, and waits until the press is confirmed. */
  const press = async (user: string, value: string, action = "ack", on = peer()) => {
    const envelope_id = `envelope-${++presses}`;
    const actions = [{ action_id: action, value, type: "button" }];
    const channel = { id: user.replace("U", "D") };
    const payload = { type: "block_actions", user: { id: user }, channel, actions };
    on?.say(JSON.stringify({ envelope_id, type: "interactive", payload }));
    await busy(
      box,
      () => on?.heard.some((text) => text === JSON.stringify({ envelope_id })) ?? false,
      "it is confirmed",
    );
  };
  const refuse = (word: string | null) => {
    refusal = word;
  };
  return {
    ...told,
    server,
    workspace,
    whispers,
    open,
    greet,
    handle,
    press,
    peer,
    refuse,
    held,
    answerHeld,
    settings,
  };
}

const acknowledged = "acknowledged by ann via slack";

test("a button in a direct message acts as the paged person; others get a text, and invalid presses are ignored", async (t) => {
  const { box, ann, workspace, whispers, open, handle, press, peer, page, stands } = await story(t);
  await open();
  const first = await page(ann);
  const key = handle();
  assert.match(key, /^[a-z0-9]{16}$/);
  await press(BOB, key);
  await busy(box, () => whispers.length === 1, "Bob is told");
  assert.match(whispers[0]?.text ?? "", /somebody else's/);
  assert.equal(whispers[0]?.user, BOB);
  await press(ANN, "aaaaaaaaaaaa");
  await press(ANN, `${key}'--`);
  await press(ANN, key, "drop");
  for (const text of ["", "null", "[]", "{", '{"type":"interactive"}', '{"envelope_id":5}'])
    peer()?.say(text);
  peer()?.say(JSON.stringify({ envelope_id: "odd", type: "events_api", payload: { type: "x" } }));
  await busy(box, () => whispers.length === 2, "Ann is told");
  assert.equal(await stands(first), "open");

  await press(ANN, key);
  await settle(box);
  await busy(
    box,
    () => JSON.stringify([...workspace.messages.values()].at(-1)).includes("cknowledged"),
    "the message says so",
  );
  assert.equal(await stands(first), acknowledged);
  assert.equal(handle(), "");
  await box.clock.turn(2000);
  await press(ANN, key, "resolve");
  await settle(box);
  assert.equal(await stands(first), "resolved by ann via slack");
  assert.deepEqual(workspace.faults, []);
});

test("a press is written when it is confirmed, while words for an earlier one are still under way", async (t) => {
  const { box, ann, whispers, open, handle, press, page, held, answerHeld } = await story(t);
  await open();
  const first = await page(ann);
  held.isHeld = true;
  await press(BOB, handle());
  await busy(box, () => whispers.length === 1, "Bob is being told");
  await press(ANN, handle());
  const state = "SELECT state FROM alerts WHERE id = ?";
  assert.equal(
    box.tenant.store.sql(state).pluck().get(first),
    "acknowledged",
    "a kill now would lose nothing",
  );
  answerHeld();
});

test("the next connection opens before Slack ends one, and a broken one is opened again after a wait", async (t) => {
  const { box, ann, server, open, greet, handle, press, peer, page, stands } = await story(t);
  await open();
  const old = peer();
  old?.say(JSON.stringify({ type: "disconnect", reason: "warning", debug_info: {} }));
  await greet(2);
  await busy(box, () => old?.isOpen === false, "the old one is left");
  assert.equal(server.peers.filter(({ isOpen }) => isOpen).length, 1);
  const first = await page(ann);
  await press(ANN, handle());
  await settle(box);
  assert.equal(await stands(first), acknowledged);

  await pass(box, 15, 5);
  peer()?.drop();
  await greet(3);
  await pass(box, 1);
  // Connections that break are not opened again as fast as they break.
  for (let i = 0; i < 5; i++) {
    peer()?.drop();
    await busy(box, () => peer() === undefined, "it is gone");
    await settle(box);
  }
  const before = server.peers.length;
  assert.ok(before <= 4, `${before} lines`);
  await pass(box, 60, 5);
  await greet(before + 1);
});

test("a revoked token, and Socket Mode switched off, are the gateway's error, and new settings are tried at once", async (t) => {
  const { box, server, open, greet, peer, refuse, gateway, gatewayError, settings } =
    await story(t);
  await open();
  peer()?.say(JSON.stringify({ type: "disconnect", reason: "link_disabled" }));
  refuse("token_revoked");
  await settle(box);
  peer()?.end();
  await busy(box, () => peer() === undefined, "the line ends");
  await settle(box);
  assert.equal(await gatewayError("slack"), "answers: Socket Mode is switched off for the app");
  await pass(box, 240, 20);
  assert.equal(server.peers.length, 1);
  await pass(box, 80, 20);
  assert.equal(await gatewayError("slack"), "answers: slack: token_revoked");
  refuse(null);
  await gateway("slack", settings);
  await greet(2);
  await settle(box);
  assert.equal(await gatewayError("slack"), null);
});

test("no connection without an app token; it closes at once when the gateway is deleted or the box stops, and confirmed presses are done", async (t) => {
  const { box, ann, server, open, greet, peer, handle, press, page, stands, gateway, settings } =
    await story(t);
  await gateway("slack", { ...settings, app_token: "" });
  await pass(box, 120, 30);
  assert.equal(server.peers.length, 0);
  await open();
  const first = await page(ann);
  await press(ANN, handle());
  await box.restart();
  assert.equal(await stands(first), acknowledged);
  await greet(2);
  assert.equal((await box.api("DELETE", "/v1/gateways/slack")).status, 200);
  await busy(box, () => peer() === undefined, "the line is left");
  await pass(box, 120, 30);
  assert.equal(server.peers.length, 2);
});
