import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { answerStory } from "../../support/answers.ts";
import { BOT_TOKEN, telegramBot } from "../../support/telegram-bot.ts";
import { busy, pass, settle } from "../../support/until.ts";

const ANN = 4711;
const BOB = 4712;

async function story(t: TestContext) {
  const told = await answerStory(t);
  const bot = telegramBot();
  told.receiver.always(bot.behaviour);
  const { box, ann, bob } = told;
  const heard = () => busy(box, bot.isHeard, "the bot's answers are asked for");
  const open = async () => {
    await told.gateway("telegram", { token: BOT_TOKEN });
    await told.contact(ann, "telegram", String(ANN));
    await told.contact(bob, "telegram", String(BOB));
    await heard();
  };
  /** The text that the person got. */
  const answerTo = async (id: string) => {
    await busy(box, () => bot.answered.has(id), `press ${id} is answered`);
    return bot.answered.get(id);
  };
  const gone = () => busy(box, () => !bot.isHeard(), "nobody asks for the bot's answers");
  return { ...told, bot, open, heard, gone, answerTo };
}

const FAIL_HEARD = `CREATE TRIGGER fail BEFORE UPDATE OF heard ON gateways
  BEGIN SELECT RAISE(ABORT, 'no place'); END`;
const FAIL_ACK = `CREATE TRIGGER fail BEFORE UPDATE OF state ON alerts
  BEGIN SELECT RAISE(ABORT, 'no acknowledgement'); END`;

test("a page's buttons act as the paged person, the message shows it afterwards, and other people's presses don't count", async (t) => {
  const { box, bot, ann, open, page, stands, answerTo } = await story(t);
  await open();
  const first = await page(ann);
  const message = [...bot.messages.keys()].at(-1) ?? 0;
  const ack = bot.button(message, "Acknowledge");
  assert.match(ack, /^ack:[a-z0-9]{16}$/);

  const strange: [number, string][] = [
    [666, ack],
    [BOB, ack],
    [ANN, "ack:aaaaaaaaaaaa"],
    [ANN, `${ack}'--`],
    [ANN, "drop"],
    [ANN, "resolve:"],
  ];
  for (const [from, data] of strange) {
    // A forged press comes from the forger's own chat.
    const chat = { ...bot.messages.get(message), chat_id: String(from), text: "forged" };
    bot.messages.set(1, chat);
    const { text, show_alert } = (await answerTo(bot.press(from, 1, data))) ?? { text: "" };
    assert.equal(show_alert, true);
    assert.match(text, /somebody else's|can't be answered|belongs to another box/);
    assert.equal(await stands(first), "open", `${from} ${data}`);
  }

  const words = await answerTo(bot.press(ANN, message));
  assert.deepEqual(words, {
    text: `Alert ${first} is acknowledged by ann@example.org, just now.`,
    show_alert: false,
  });
  assert.equal(await stands(first), "acknowledged by ann via telegram");
  await settle(box);
  assert.match(bot.messages.get(message)?.text ?? "", /cknowledged/);
  assert.deepEqual(bot.messages.get(message)?.reply_markup?.inline_keyboard, []);

  // A person who pressed twice gets the present state, and it is done once.
  await answerTo(bot.press(ANN, message, ack));
  assert.equal(await stands(first), "acknowledged by ann via telegram");
  await box.clock.turn(2000);
  await answerTo(bot.press(ANN, message, ack.replace("ack", "resolve")));
  assert.equal(await stands(first), "resolved by ann via telegram");
});

test("an update counts as read after its commit: interrupted before, it comes again and is done once", async (t) => {
  const { box, bot, ann, open, heard, page, stands, answerTo } = await story(t);
  await open();
  const first = await page(ann);
  const message = [...bot.messages.keys()].at(-1) ?? 0;
  box.tenant.store.db.exec(FAIL_HEARD);
  await answerTo(bot.press(ANN, message));
  assert.equal(await stands(first), "acknowledged by ann via telegram");
  bot.answered.clear();
  await box.restart();
  // Telegram sends it again, because nobody has marked it as read.
  await busy(box, () => bot.answered.size > 0, "the press comes again");
  assert.equal(await stands(first), "acknowledged by ann via telegram");
  box.tenant.store.db.exec("DROP TRIGGER fail");
  await pass(box, 10, 5);
  await heard();
  const place = bot.looks.at(-1);
  await box.restart();
  await heard();
  assert.equal(bot.looks.at(-1), place);
  assert.ok((place ?? 0) > 700);
});

test("a press that can't be written is tried again, and a lost answer of Telegram is requested again", async (t) => {
  const { box, bot, ann, open, heard, page, stands, answerTo } = await story(t);
  await open();
  const first = await page(ann);
  const message = [...bot.messages.keys()].at(-1) ?? 0;
  box.tenant.store.db.exec(FAIL_ACK);
  bot.press(ANN, message);
  await busy(box, () => !bot.isHeard(), "the press is read");
  await settle(box);
  assert.equal(await stands(first), "open");
  box.tenant.store.db.exec("DROP TRIGGER fail");
  await pass(box, 5);
  await busy(box, () => bot.answered.size > 0, "the press is acted on");
  assert.equal(await stands(first), "acknowledged by ann via telegram");

  await heard();
  const second = await page(ann);
  bot.loseNext();
  const press = bot.press(ANN, [...bot.messages.keys()].at(-1) ?? 0);
  await busy(box, () => !bot.isHeard(), "the answer is lost");
  await pass(box, 3);
  await answerTo(press);
  assert.equal(await stands(second), "acknowledged by ann via telegram");
});

test("a press that can never be written is skipped, and the next ones are done", async (t) => {
  const { box, bot, ann, open, page, stands } = await story(t);
  await open();
  const first = await page(ann);
  const message = [...bot.messages.keys()].at(-1) ?? 0;
  await pass(box, 6);
  const second = await page(ann);
  box.tenant.store.db.exec(FAIL_ACK.replace("BEGIN", `WHEN old.id = ${first} BEGIN`));
  bot.press(ANN, message);
  bot.press(ANN, [...bot.messages.keys()].at(-1) ?? 0);
  await pass(box, 30);
  await busy(box, () => bot.answered.size > 0, "the second press is acted on");
  assert.equal(await stands(first), "open");
  assert.equal(await stands(second), "acknowledged by ann via telegram");
});

test("another program that reads the same bot, or a revoked token, is the gateway's error while it lasts", async (t) => {
  const { box, bot, open, heard, gateway, gatewayError } = await story(t);
  await open();
  bot.takeOver();
  await busy(box, () => !bot.isHeard(), "it was sent away");
  await settle(box);
  assert.match((await gatewayError("telegram")) ?? "", /^answers: another program reads/);
  const looks = bot.looks.length;
  await pass(box, 25, 5);
  assert.equal(bot.looks.length, looks);
  await pass(box, 10, 5);
  await heard();
  bot.write(1, "hello");
  await busy(box, () => bot.looks.length > looks + 1, "it looked again");
  assert.equal(await gatewayError("telegram"), null);

  await heard();
  bot.revoke();
  await settle(box);
  await busy(box, () => !bot.isHeard(), "it was refused");
  await settle(box);
  assert.match((await gatewayError("telegram")) ?? "", /^answers: Telegram doesn't know/);
  bot.revoke(false);
  await gateway("telegram", { token: BOT_TOKEN });
  await heard();
});

test("without a gateway nothing is read; deleting it, or stopping the box, ends a running read at once", async (t) => {
  const { box, bot, receiver, open, gone, heard } = await story(t);
  await pass(box, 120, 30);
  assert.equal(receiver.received.length, 0);
  await open();
  assert.equal((await box.api("DELETE", "/v1/gateways/telegram")).status, 200);
  await gone();
  const looks = bot.looks.length;
  await pass(box, 120, 30);
  assert.equal(bot.looks.length, looks);

  await open();
  await heard();
  const started = performance.now();
  await box.restart();
  assert.ok(performance.now() - started < 3_000, "it waited for the look");
});

test("/start is answered with the chat's id and what to do with it, for strangers only so often; other texts are never answered", async (t) => {
  const { box, bot, open, heard } = await story(t);
  await open();
  const before = bot.messages.size;
  bot.write(777, "/start");
  await busy(box, () => bot.messages.size > before, "it greets");
  const [greeting] = [...bot.messages.values()].slice(before);
  assert.equal(greeting?.chat_id, "777");
  assert.equal(
    greeting?.text,
    "This chat's id is 777. To be paged here: box contact add telegram -- 777",
  );
  await heard();
  bot.write(777, "/starting");
  bot.write(777, "how are you?");
  for (let i = 0; i < 60; i++) bot.write(777, "/start again");
  await busy(box, () => bot.looks.at(-1) === 701 + 63 && bot.isHeard(), "all are read");
  assert.equal(bot.messages.size - before, 20);
});
