import assert from "node:assert/strict";
import { test } from "node:test";
import type { Via } from "../../../../src/out/outbox/senders/sent.ts";
import { readTelegramUpdates } from "../../../../src/out/services/telegram/answers.ts";

/** A service in Telegram's place that answers with this text. */
const saying = (body: string): Via =>
  ({
    now: 0,
    timeoutMs: 1000,
    egress: { send: async () => ({ status: 200, error: null, headers: {}, body }) },
  }) as unknown as Via;

test("an answer of millions of values is no answer, and is not parsed", async () => {
  const small = await readTelegramUpdates(saying('{"ok":true,"result":[]}'), { token: "t" }, null);
  assert.deepEqual(small, { updates: [] });
  const huge = `{"ok":true,"result":[${"{},".repeat(2_000_000)}{}]}`;
  const look = await readTelegramUpdates(saying(huge), { token: "t" }, null);
  assert.equal("why" in look && look.why, "failed");
});
