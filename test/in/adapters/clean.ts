import assert from "node:assert/strict";
import { uuid4 } from "../../../src/ground/kit/ids.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { codePoints, fits, isStorable } from "../../../src/ground/kit/text.ts";
import {
  type Adapter,
  type Decoded,
  type InRequest,
  UnreadableBody,
  type WatchedKeys,
} from "../../../src/in/adapters/adapter.ts";
import { statusOf } from "../../../src/in/adapters/replies.ts";
import { eventLimits } from "../../../src/in/ingest/event.ts";

/** For a project without rules. */
export const nothingWatched: WatchedKeys = () => new Set();

/** A request as it reaches an adapter: a POST of `body` to `path` on 5 January 2026. */
export function sent(body: Buffer | string, more: Partial<InRequest> = {}): InRequest {
  return {
    method: "POST",
    path: "",
    query: new URLSearchParams(),
    header: () => undefined,
    body: Buffer.from(body),
    at: 1_767_603_600,
    options: {},
    watched: nothingWatched,
    unique: () => uuid4(systemRandom),
    ...more,
  };
}

/** How many times longer than its body the longest event may be. */
const MOST_GROWTH = 64 * 1024;

/**
 * Decodes a request and checks the result: a refusal in the sender's format, or events within the limits and an answer.
 * Returns the events, or null for a refusal.
 */
export function decodesCleanly(adapter: Adapter, request: InRequest): Decoded | null {
  let decoded: Decoded;
  try {
    decoded = adapter.decode(request);
  } catch (error) {
    // Any other error would be answered with 500, and the sender would retry for ever or never.
    if (!(error instanceof UnreadableBody)) throw error;
    const { status, message } = statusOf(error.refusal);
    const { body } = adapter.refuse?.(error.refusal) ?? { body: message };
    assert.ok(status >= 400 && status < 600 && status !== 500, String(status));
    assert.ok(body.length < 2000);
    return null;
  }
  const { events, rejected, answer } = decoded;
  for (const event of events) isWithinLimits(event);
  for (const { otherwise } of decoded.jobs ?? [])
    if (typeof otherwise === "object") isWithinLimits(otherwise.event);
  for (const { reason } of rejected) assert.ok(reason.length > 0 && reason.length < 500);
  const counts = { accepted: events.length, resolved: 0, rejected: rejected.length };
  const { status } = answer(counts);
  assert.ok(status >= 200 && status < 500, String(status));
  return decoded;
}

function isTitle(title: string): void {
  assert.ok(title !== "" && codePoints(title) <= 200 && isStorable(title), title);
  assert.doesNotMatch(title, /[\p{Cc}\u2028\u2029]/u);
}

function isWithinLimits(event: Decoded["events"][number]): void {
  const { message, title = null, level, keys, tags, named, extra } = event;
  const isText = (text: string, most: number) =>
    assert.ok(text.length > 0 && fits(text, most) && isStorable(text), text.slice(0, 100));
  isText(message, eventLimits.message);
  if (title !== null) isTitle(title);
  assert.ok([100, 200, 300, 400, 500].includes(level), String(level));
  const names = Object.keys(keys ?? {});
  assert.ok(names.length <= eventLimits.keys);
  for (const name of names) {
    isText(name, eventLimits.key);
    const value = keys?.[name] ?? "";
    assert.ok(fits(value, eventLimits.value) && isStorable(value));
  }
  assert.ok((tags ?? []).length <= eventLimits.tags);
  for (const tag of tags ?? []) isText(tag, eventLimits.tag);
  if (named?.dedupKey) isText(named.dedupKey, 512);
  if (named?.instance) isText(named.instance, 64);
  if (named?.expiresAt) assert.ok(Number.isSafeInteger(named.expiresAt));
  if (!extra) return;
  assert.ok((extra.details ?? "").length <= MOST_GROWTH && isStorable(extra.details ?? ""));
  assert.ok(extra.links.length <= 16 && extra.images.length <= 8);
  for (const { href, text } of extra.links)
    assert.ok(/^https?:/i.test(href) && href.length <= 2048 && text.length <= 256);
  for (const { src } of extra.images) assert.ok(/^https?:/i.test(src));
}
