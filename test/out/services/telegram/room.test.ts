import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import type { Egress } from "../../../../src/ground/kit/egress.ts";
import { sendTelegram, telegramText } from "../../../../src/out/services/telegram/room.ts";
import { boxEgress } from "../../../support/egress.ts";
import { eventBody, inWords } from "../../../support/events.ts";
import fc, { anyCharacter } from "../../../support/property.ts";
import { answer, type Receiver, reset, startReceiver } from "../../../support/receiver.ts";

const egress = boxEgress();
after(() => egress.close());

const token = "123456:canary-AAE_token";
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

function send(changes: { token?: string } = {}) {
  return sendTelegram(
    { egress, now: 0 },
    { apiUrl: receiver.url, token, chatId: "-100", words: inWords(eventBody()), ...changes },
  );
}

function failure(code: number, description: string, parameters?: object) {
  return answer(code, { ok: false, error_code: code, description, parameters });
}

test("plain text to the chat, with no markup and no preview", async () => {
  receiver.once(answer(200, { ok: true, result: { text: "x".repeat(9_000) } }));
  const { verdict, chatId } = await send();
  assert.deepEqual([verdict, chatId], [{ kind: "delivered", status: 200 }, undefined]);
  const [request] = receiver.received;
  assert.equal(request?.path, `/bot${token}/sendMessage`);
  assert.deepEqual(JSON.parse(request?.body ?? ""), {
    chat_id: "-100",
    text: telegramText(inWords(eventBody())),
    link_preview_options: { is_disabled: true },
  });
});

test("any event fits, cut between characters", () => {
  // As a channel's own text has it.
  const own = { details: ["💥".repeat(2_100)], facts: "" };
  for (const before of ["", "x"]) {
    const text = telegramText({ ...inWords(eventBody({ project: `shop${before}` })), ...own });
    assert.ok(text.length <= 4_096 && text.length >= 4_094);
    assert.ok(text.isWellFormed() && text.endsWith("💥…"));
  }
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 9_000 }), (last_message) => {
      const text = telegramText(inWords(eventBody({ last_message: last_message.toWellFormed() })));
      assert.ok(text.length >= 1 && text.length <= 4_096 && text.isWellFormed());
    }),
    { numRuns: 30 },
  );
});

test("too many requests wait as long as Telegram says, an hour at most", async () => {
  receiver.once(failure(429, "Too Many Requests: retry after 35", { retry_after: 35 }));
  const error = "http 429: Too Many Requests: retry after 35";
  assert.deepEqual((await send()).verdict, { kind: "later", error, retryAfterMs: 35_000 });
  for (const [retry_after, expected] of [
    [1e9, 3_600_000],
    [-1, 0],
    ["35", undefined],
  ] as const) {
    receiver.once(failure(429, "", { retry_after }));
    const { verdict } = await send();
    assert.equal(verdict.kind === "later" ? verdict.retryAfterMs : "?", expected);
  }
});

test("a group that moved is followed at once and its new id handed back", async () => {
  const moved = failure(400, "Bad Request: group chat was upgraded to a supergroup chat", {
    migrate_to_chat_id: -1001234567890,
  });
  receiver.once(moved, answer(200, { ok: true }));
  const { verdict, chatId } = await send();
  assert.deepEqual([verdict, chatId], [{ kind: "delivered", status: 200 }, "-1001234567890"]);
  assert.equal(JSON.parse(receiver.received[1]?.body ?? "").chat_id, "-1001234567890");

  receiver.once(moved, moved);
  const again = await send();
  assert.equal(again.verdict.kind, "later");
  assert.equal(again.chatId, "-1001234567890");
  assert.equal(receiver.received.length, 4);
});

test("the second half of a move has only the time that is left", async () => {
  const limits: (number | undefined)[] = [];
  const slow: Egress = {
    dial: () => Promise.reject(new Error("nothing but HTTP")),
    talk: () => Promise.reject(new Error("nothing but HTTP")),
    async send({ timeoutMs }) {
      limits.push(timeoutMs);
      return {
        error: null,
        status: 400,
        headers: {},
        body: '{"parameters":{"migrate_to_chat_id":-1}}',
        truncated: false,
        sent: true,
        durationMs: 7_000,
      };
    },
  };
  const request = { apiUrl: "http://t.test", token, chatId: "1", words: inWords(eventBody()) };
  const { durationMs } = await sendTelegram({ egress: slow, now: 0 }, request);
  assert.deepEqual([limits, durationMs], [[undefined, 3_000], 14_000]);
});

test("errors tell what Telegram said, never the token", async () => {
  receiver.once(failure(400, "Bad Request: chat not found"));
  const plain = await send();
  assert.deepEqual(plain.verdict, {
    kind: "later",
    error: "http 400: Bad Request: chat not found",
  });
  const rows = [
    failure(401, `Unauthorized: ${token}\n${"x".repeat(5_000)}`),
    failure(403, `Forbidden ${token}`),
    failure(500, "x".repeat(3_000)),
    answer(404, `no route /bot${token}/sendMessage`),
    answer(502, "<html>"),
    answer(500, '{"description":5,"parameters":[]}'),
    answer(500, "null"),
    reset,
  ];
  for (const behaviour of rows) {
    receiver.once(behaviour);
    const { verdict } = await send();
    assert.equal(verdict.kind, "later");
    const text = JSON.stringify(verdict);
    assert.ok(!text.includes("canary") && text.length < 300, text);
  }
  receiver.once(failure(410, "Gone"));
  assert.deepEqual((await send()).verdict, {
    kind: "never",
    error: "http 410: Gone",
    disable: true,
  });
});

test("a token of any form stays one part of the path", async () => {
  receiver.once(answer(200, { ok: true }));
  await send({ token: "a/../b?c#d" });
  assert.equal(receiver.received[0]?.path, "/bota%2F..%2Fb%3Fc%23d/sendMessage");
});
