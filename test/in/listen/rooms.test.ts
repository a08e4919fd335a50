import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { answerStory } from "../../support/answers.ts";
import type { TestBox } from "../../support/box.ts";
import { jsonOf, SLACK_APP_TOKEN, SLACK_TOKEN, slackWorkspace } from "../../support/chats.ts";
import { startTalkServer } from "../../support/talk-server.ts";
import { BOT_TOKEN, telegramBot } from "../../support/telegram-bot.ts";
import { busy, settle } from "../../support/until.ts";

const ROOM = "-100471147114711";
const ANN = 4711;

async function addChannel(box: TestBox, body: object) {
  const made = await box.api("POST", "/v1/projects/shop/integrations", body);
  assert.equal(made.status, 201, JSON.stringify(made.body));
}

async function telegramRoom(t: TestContext) {
  const told = await answerStory(t, (url) => ({ telegramApi: url }));
  const bot = telegramBot();
  told.receiver.always(bot.behaviour);
  const { box } = told;
  await addChannel(box, { type: "telegram", name: "room", token: BOT_TOKEN, chat_id: ROOM });
  const inRoom = () =>
    [...bot.messages].findLast(
      ([, { chat_id, text }]) => chat_id === ROOM && /needed/.test(text),
    ) ?? assert.fail("no message in the room");
  const press = async (from: number, message: number, data?: string) => {
    const id = bot.press(from, message, data);
    await busy(box, () => bot.answered.has(id), "the presser is told");
    return bot.answered.get(id);
  };
  return { ...told, bot, inRoom, press };
}

test("a chat of the tenant's own bot gets a button that acts as the known person who presses it, and disappears afterwards", async (t) => {
  const { box, bot, ann, bob, gateway, contact, page, stands, inRoom, press } =
    await telegramRoom(t);
  await page(ann);
  assert.equal(inRoom()[1].reply_markup, undefined);

  await gateway("telegram", { token: BOT_TOKEN });
  await contact(ann, "telegram", String(ANN));
  const alert = await page(bob);
  const [message, { reply_markup: keys }] = inRoom();
  assert.deepEqual(keys, {
    inline_keyboard: [[{ text: "Acknowledge", callback_data: `ack@${alert}` }]],
  });
  const refused = await press(666, message);
  assert.deepEqual(refused, {
    text: "Nobody at this box is known by your account. To be: box contact add telegram 666",
    show_alert: true,
  });
  for (const data of ["ack@", "ack@99999", `ack@${alert}x`, `ack@-${alert}`])
    assert.equal((await press(ANN, message, data))?.show_alert, true, data);
  assert.equal(await stands(alert), "open");

  const done = await press(ANN, message);
  const { entries } = (await box.api("GET", "/v1/audit")).body;
  const row = entries.find((one: { verb: string }) => one.verb === "answerInRoom");
  assert.deepEqual(
    [row?.account_id, row?.via],
    [ann.accountId, "page"],
    JSON.stringify(entries[0]),
  );
  assert.deepEqual(done, {
    text: `Alert ${alert} is acknowledged by ann@example.org, just now.`,
    show_alert: false,
  });
  assert.equal(await stands(alert), "acknowledged by ann via telegram");
  const left = () => bot.messages.get(message)?.reply_markup?.inline_keyboard;
  await busy(box, () => left()?.length === 0, "the button goes");
  await settle(box);
  // A message about a later state has no button.
  const last = [...bot.messages.values()].findLast(({ chat_id }) => chat_id === ROOM);
  assert.match(last?.text ?? "", /cknowledged/);
  assert.equal(last?.reply_markup, undefined);

  // A person who disables the contact isn't known by it any more.
  const next = await page(bob);
  box.tenant.store.db.exec("UPDATE contacts SET state = 'off'");
  assert.equal((await press(ANN, inRoom()[0]))?.show_alert, true);
  assert.equal(await stands(next), "open");
});

test("a chat of another bot gets no button, because the box couldn't receive its presses", async (t) => {
  const { box, bot, receiver, ann, gateway, page, inRoom } = await telegramRoom(t);
  await gateway("telegram", { token: BOT_TOKEN });
  receiver.always((response, socket, request) =>
    bot.behaviour(response, socket, {
      ...request,
      path: request.path.replace("/bot999:other", `/bot${BOT_TOKEN}`),
    }),
  );
  const id = (await box.api("GET", "/v1/projects/shop/integrations")).body.integrations[0].id;
  await box.api("DELETE", `/v1/projects/shop/integrations/${id}`);
  await addChannel(box, { type: "telegram", name: "r", token: "999:other", chat_id: ROOM });
  await page(ann);
  assert.equal(inRoom()[1].reply_markup, undefined);
});

test("a Slack channel of the tenant's own app gets such a button, too", async (t) => {
  const told = await answerStory(t, (url) => ({ slackApi: `${url}/api` }));
  const { box, receiver, ann, gateway, contact, page, stands } = told;
  const server = await startTalkServer();
  t.after(() => server.close());
  const workspace = slackWorkspace(["C0OPS", "U0ANN1234"], server.url);
  const whispers: { user: string; text: string }[] = [];
  receiver.always((response, socket, request) => {
    if (request.path !== "/api/chat.postEphemeral")
      return workspace.behaviour(response, socket, request);
    whispers.push(jsonOf(request));
    response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}');
  });
  await gateway("slack", {
    bot_token: SLACK_TOKEN,
    app_token: SLACK_APP_TOKEN,
    url: `${receiver.url}/api`,
  });
  await addChannel(box, { type: "slack", name: "ops", bot_token: SLACK_TOKEN, channel: "C0OPS" });
  await contact(ann, "slack", "U0ANN1234");
  await busy(box, () => server.peers.length > 0, "the line is open");
  const alert = await page(ann);
  const place = [...workspace.messages.keys()].find((key) => key.startsWith("C0OPS")) ?? "";
  const message = workspace.messages.get(place);
  const blocks = message?.["blocks"] as { type: string; elements?: { value?: string }[] }[];
  const button = blocks.find(({ type }) => type === "actions")?.elements?.[0];
  assert.equal(button?.value, alert);
  const press = (user: string) => {
    const [channel = "", ts = ""] = place.split(" ");
    const payload = {
      type: "block_actions",
      user: { id: user },
      channel: { id: channel },
      message: { type: "message", ts, text: message?.["text"], blocks },
      actions: [{ ...button, type: "button" }],
    };
    const said = { envelope_id: `${user}-1`, type: "interactive", payload };
    server.peers.at(-1)?.say(JSON.stringify(said));
  };
  press("U0EVE1234");
  await busy(box, () => whispers.length === 1, "the stranger is told");
  assert.match(whispers[0]?.text ?? "", /^Nobody at this box is known .* add slack U0EVE1234$/);
  assert.equal(await stands(alert), "open");
  press("U0ANN1234");
  await busy(box, () => whispers.length === 2, "Ann is told");
  assert.equal(await stands(alert), "acknowledged by ann via slack");
  const hasButton = () => JSON.stringify(workspace.messages.get(place)).includes('"actions"');
  await busy(box, () => !hasButton(), "the button goes");
  assert.deepEqual(workspace.faults, []);
});
