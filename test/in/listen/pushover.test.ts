import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { answerStory, hear } from "../../support/answers.ts";
import { long, test } from "../../support/long.ts";
import { PUSHOVER_TOKEN, PUSHOVER_USER, pushoverServer } from "../../support/pushes.ts";
import { answer } from "../../support/receiver.ts";

async function story(t: TestContext) {
  const told = await answerStory(t);
  const server = pushoverServer();
  told.receiver.always((response, socket, request) =>
    request.path.startsWith("/1/apps/limits.json")
      ? answer(200, { status: 1 })(response, socket, request)
      : server.behaviour(response, socket, request),
  );
  await told.gateway("pushover", { token: PUSHOVER_TOKEN });
  await told.contact(told.ann, "pushover", PUSHOVER_USER);
  /** How often a receipt was read in so many seconds. */
  const asked = async (seconds: number) => {
    const asks = () =>
      told.receiver.received.filter(({ method, path }) => method === "GET" && /receipts/.test(path))
        .length;
    const before = asks();
    await hear(told.box, seconds);
    return asks() - before;
  };
  return { ...told, ...server, asked };
}

test("acknowledging an emergency in the app acknowledges the alert: its receipt is read every ten seconds until then", async (t) => {
  const { box, ann, page, stands, asked, receipts } = await story(t);
  assert.equal(await asked(120), 0);
  const first = await page(ann);
  assert.equal(receipts.size, 1);
  const often = await asked(60);
  assert.ok(often >= 5 && often <= 7, `${often} questions in a minute`);
  const [receipt = ""] = receipts.keys();
  receipts.set(receipt, Math.floor(box.clock.now() / 1000));
  await asked(11);
  assert.equal(await stands(first), "acknowledged by ann via pushover");
  assert.equal(await asked(60), 0);
  // When the alert is acknowledged elsewhere the receipt isn't read any more.
  const second = await page(ann);
  await asked(11);
  await box.api("POST", `/v1/alerts/${second}/ack`, {}, ann.key);
  assert.equal(await asked(60), 0);
});

long("a receipt that can't be read is tried again, over a restart, while it rings", async (t) => {
  const { box, ann, page, stands, asked, receipts, receiver, gatewayError } = await story(t);
  const first = await page(ann);
  receiver.once(answer(500), answer(200, "nonsense"), answer(503));
  await asked(30);
  assert.equal(await gatewayError("pushover"), "answers: receipts can't be read");
  await box.restart();
  const [receipt = ""] = receipts.keys();
  receipts.set(receipt, Math.floor(box.clock.now() / 1000));
  await asked(15);
  assert.equal(await stands(first), "acknowledged by ann via pushover");
  assert.equal(await gatewayError("pushover"), null);

  await page(ann);
  const rest = await asked(2);
  assert.ok(rest >= 1);
  await box.clock.turn(3 * 3_600_000);
  assert.equal(await asked(30), 0);
});
