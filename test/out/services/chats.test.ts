import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import type { DirectMessage, DirectSent } from "../../../src/out/services/direct-message.ts";
import { editMatrixDirect, sendMatrixDirect } from "../../../src/out/services/matrix/person.ts";
import {
  editSlackDirect,
  sendSlackDirect,
  slackDirectMessage,
} from "../../../src/out/services/slack/person.ts";
import {
  editTelegramDirect,
  sendTelegramDirect,
} from "../../../src/out/services/telegram/person.ts";
import {
  homeserver,
  MATRIX_ROOM,
  MATRIX_TOKEN,
  matrixActs,
  SLACK_TOKEN,
  slackActs,
  slackWorkspace,
  TELEGRAM_BLOCKED,
  TELEGRAM_TOKEN,
  telegramService,
} from "../../support/chats.ts";
import { codeMessage, directMessage, hostileMessages } from "../../support/direct.ts";
import { boxEgress } from "../../support/egress.ts";
import { bodyOf } from "../../support/pushes.ts";
import { answer, type Behaviour, type Receiver, startReceiver } from "../../support/receiver.ts";

const egress = boxEgress();
after(() => egress.close());
const via = { egress, now: 0 };

let receiver: Receiver;
let telegram: ReturnType<typeof telegramService>;
let slack: ReturnType<typeof slackWorkspace>;
let matrix: ReturnType<typeof homeserver>;
beforeEach(async () => {
  receiver = await startReceiver();
  telegram = telegramService();
  slack = slackWorkspace(["U0ANN"]);
  matrix = homeserver();
});
afterEach(() => receiver.close());

const taken = directMessage({
  purpose: "note",
  id: "pg_2",
  title: "Acknowledged by Ann, 02:11",
  lines: [],
  ack: null,
});

interface Way {
  service(): { behaviour: Behaviour; faults: string[] };
  send(message: DirectMessage): Promise<DirectSent>;
  edit(message: DirectMessage, ref: string): Promise<DirectSent>;
}

const telegramWay = (address = "4711") => ({
  gateway: { token: TELEGRAM_TOKEN, url: receiver.url },
  fields: { address },
});
const slackWay = (more = {}) => ({
  gateway: {
    bot_token: SLACK_TOKEN,
    app_token: "xapp-canary",
    url: `${receiver.url}/api/`,
    ...more,
  },
  fields: { address: "U0ANN" },
});
const matrixWay = () => ({
  gateway: { access_token: MATRIX_TOKEN, url: receiver.url },
  fields: { address: MATRIX_ROOM },
});

const ways = {
  telegram: {
    service: () => telegram,
    send: (message) => sendTelegramDirect({ ...via, ...telegramWay(), message }),
    edit: (message, ref) => editTelegramDirect({ ...via, ...telegramWay(), message }, ref),
  },
  slack: {
    service: () => slack,
    send: (message) => sendSlackDirect({ ...via, ...slackWay(), message }),
    edit: (message, ref) => editSlackDirect({ ...via, ...slackWay(), message }, ref),
  },
  matrix: {
    service: () => matrix,
    send: (message) => sendMatrixDirect({ ...via, ...matrixWay(), message }),
    edit: (message, ref) => editMatrixDirect({ ...via, ...matrixWay(), message }, ref),
  },
} satisfies Record<string, Way>;

for (const [name, { service, send, edit }] of Object.entries(ways)) {
  test(`${name}: whatever was logged is taken, said and changed within the service's limits`, async () => {
    const { behaviour, faults } = service();
    receiver.always(behaviour);
    for (const [i, message] of [...hostileMessages(), codeMessage].entries()) {
      const long = `https://box.example/${"a".repeat(i % 2 === 0 ? 10 : 2_000)}`;
      const ack = message.ack && { ...message.ack, url: long };
      const sent = await send({ ...message, id: `pg_${i}`, link: long, ack });
      assert.equal(sent.verdict.kind, "delivered", faults.join());
      assert.ok((sent.ref ?? "").length > 0 && (sent.ref ?? "").length <= 200);
      const edited = await edit({ ...message, id: `pg_${i}`, title: `now ${i}` }, sent.ref ?? "");
      assert.equal(edited.verdict.kind, "delivered", faults.join());
    }
    assert.deepEqual(faults, []);
    assert.deepEqual([...slack.messages.values()].flatMap(slackActs), []);
    const said = [...matrix.events.values()].map(({ content }) => content);
    assert.deepEqual(said.flatMap(matrixActs), []);
    assert.ok(receiver.received.every(({ body }) => body.isWellFormed()));
  });

  test(`${name}: a broken or crowded service is tried again, and nothing secret is in an error`, async () => {
    const rows = [
      answer(500, `canary ${TELEGRAM_TOKEN} ${SLACK_TOKEN} ${MATRIX_TOKEN}`),
      answer(403, "<html>canary"),
      answer(429, { description: "x", parameters: { retry_after: 5 } }, { "retry-after": "5" }),
    ];
    for (const behaviour of rows) {
      receiver.once(behaviour);
      const { verdict, ref } = await send(directMessage());
      assert.deepEqual([verdict.kind, ref], ["later", undefined]);
      assert.ok(!/canary|xoxb|syt_|AAE/.test(JSON.stringify(verdict)));
    }
  });
}

test("Telegram: buttons with short data, gone with the edit; a second edit alike is as good as done", async () => {
  receiver.always(telegram.behaviour);
  const { ref = "" } = await ways.telegram.send(directMessage());
  assert.equal(ref, "88");
  assert.deepEqual(bodyOf(receiver.received[0]), {
    chat_id: "4711",
    text: [
      "ALERT: shop · Payments failing",
      "Payment 42 failed for bob",
      "critical · 12 events",
      "https://box.example/ack/canary-capability",
    ].join("\n"),
    reply_markup: {
      inline_keyboard: [
        [
          { text: "Acknowledge", callback_data: "ack:k3v9x2m7q4t8" },
          { text: "Resolve", callback_data: "resolve:k3v9x2m7q4t8" },
        ],
      ],
    },
    link_preview_options: { is_disabled: true },
  });
  for (let i = 0; i < 2; i++)
    assert.deepEqual(await ways.telegram.edit(taken, ref), {
      verdict: { kind: "delivered", status: 200 },
    });
  assert.deepEqual(telegram.messages.get(88)?.reply_markup?.inline_keyboard, []);
  assert.match(telegram.messages.get(88)?.text ?? "", /^Acknowledged by Ann/);
  await ways.telegram.send(taken);
  assert.equal(bodyOf(receiver.received.at(-1)).disable_notification, true);
});

test("Telegram: who blocked the bot or never spoke to it isn't tried again; a chat that moved is learned", async () => {
  receiver.always(telegram.behaviour);
  const message = directMessage();
  const send = (address: string) =>
    sendTelegramDirect({ ...via, ...telegramWay(address), message });
  assert.deepEqual(await send(TELEGRAM_BLOCKED), {
    verdict: { kind: "never", error: "http 403: Forbidden: bot was blocked by the user" },
  });
  assert.equal((await send("4799")).verdict.kind, "never");
  assert.equal((await ways.telegram.edit(taken, "7")).verdict.kind, "never");
  const parameters = { migrate_to_chat_id: 4711 };
  receiver.once(answer(400, { ok: false, description: "moved", parameters }));
  const moved = await send("-5");
  assert.deepEqual([moved.verdict.kind, moved.learned], ["delivered", { address: "4711" }]);
});

test("Slack: buttons where they are heard, a link where not; the edit finds the conversation", async () => {
  const actions = (hearsButtons: boolean) =>
    Object(slackDirectMessage(directMessage(), { hearsButtons })).blocks.map(
      ({ type }: { type: string }) => type,
    );
  assert.deepEqual(actions(true), ["header", "section", "actions", "context"]);
  assert.deepEqual(actions(false), ["header", "section", "context"]);
  receiver.always(slack.behaviour);
  const { ref } = await ways.slack.send(directMessage());
  assert.equal(ref, "D0ANN:1795289702.000000");
  const sent = bodyOf(receiver.received[0]);
  assert.equal(sent.channel, "U0ANN");
  assert.deepEqual(sent.blocks[2].elements[0], {
    type: "button",
    action_id: "ack",
    value: "k3v9x2m7q4t8",
    style: "primary",
    text: { type: "plain_text", text: "Acknowledge" },
  });
  assert.match(
    sent.blocks[3].elements[0].text,
    /^<https:\/\/box\.example\/ack\/canary-capability\|Ack/,
  );
  await ways.slack.edit({ ...directMessage(), title: "Acknowledged by Ann" }, ref ?? "");
  const now = JSON.stringify(slack.messages.get("D0ANN 1795289702.000000"));
  assert.ok(now.includes("Acknowledged by Ann") && !now.includes("k3v9x2m7q4t8"));
  const gone = await ways.slack.edit(taken, "D0ANN:1.5");
  assert.deepEqual(gone.verdict, { kind: "never", error: "slack: message_not_found" });
});

test("Matrix: one message however often it is tried, and an edit that takes its place without a sound", async () => {
  receiver.always(matrix.behaviour);
  const first = await ways.matrix.send(directMessage());
  const again = await ways.matrix.send(directMessage());
  assert.deepEqual([first.ref, again.ref], ["$event1", "$event1"]);
  for (let i = 0; i < 2; i++) await ways.matrix.edit(taken, "$event1");
  assert.equal(matrix.events.size, 2);
  const { content = {} } = matrix.events.get("$event2") ?? {};
  assert.deepEqual(content["m.relates_to"], { rel_type: "m.replace", event_id: "$event1" });
  const { msgtype, body } = Object(content["m.new_content"]);
  assert.deepEqual([msgtype, body], ["m.notice", `${taken.title}\n${taken.link}`]);
});
