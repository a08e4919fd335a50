import assert from "node:assert/strict";
import { ServiceError } from "../../src/ground/kit/errors.ts";
import { fits, isStorable } from "../../src/ground/kit/text.ts";
import { checkEvent } from "../../src/in/ingest/event.ts";
import { Input } from "./input.ts";

/** Any value that JSON can say, most often a text. */
function anything(input: Input): unknown {
  const kinds = [
    () => input.text(),
    () => input.long(),
    () => input.integer(),
    () => -input.integer() / 7,
    () => null,
    () => input.flag(),
    () => [input.text()],
    () => ({ href: input.text() }),
    () => undefined,
  ] as const;
  return input.pick(kinds)();
}

const address = (input: Input) =>
  input.pick(["https://a.b/", "http://", "javascript:"]) + input.text();

function list(input: Input, name: "href" | "src"): unknown {
  if (input.flag()) return anything(input);
  return Array.from({ length: input.byte() % 40 }, () =>
    input.flag()
      ? anything(input)
      : { [name]: address(input), text: anything(input), alt: anything(input) },
  );
}

/**
 * What a sender says of an alert that it names: a bad name or status is refused by its field and nothing else is; what is
 * kept is within its bounds and can be stored, and times and addresses are such.
 */
export function namedEvent(bytes: Buffer): void {
  const input = new Input(bytes);
  const sent = {
    message: "m",
    dedup_key: anything(input),
    status: input.pick(["firing", "resolved", "acknowledged", undefined, input.text()]),
    instance: anything(input),
    expires_at: anything(input),
    occurred_at: anything(input),
    links: list(input, "href"),
    images: list(input, "src"),
    details: anything(input),
  };
  const text = JSON.stringify(sent);
  const value = JSON.parse(text);
  const faults = [
    isName(value.dedup_key) ? [] : ["/dedup_key"],
    isStatus(value.status) ? [] : ["/status"],
  ].flat();
  try {
    keepsBounds(checkEvent(value, text), value);
    assert.deepEqual(faults, []);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    assert.deepEqual(error.details?.map(({ field }) => field).sort(), faults);
  }
}

function isName(key: unknown): boolean {
  return (
    key === undefined ||
    (typeof key === "string" && key !== "" && fits(key, 512) && isStorable(key))
  );
}

function isStatus(status: unknown): boolean {
  return status === undefined || ["firing", "resolved", "acknowledged"].includes(status as string);
}

function keepsBounds(
  { named, extra }: ReturnType<typeof checkEvent>,
  sent: Record<string, unknown>,
): void {
  const isText = (text: string | null | undefined, most: number) =>
    assert.ok(text == null || (fits(text, most) && isStorable(text)));
  const isTime = (time: number | null) =>
    assert.ok(time === null || (Number.isSafeInteger(time) && time >= 0));
  assert.equal(named == null, sent["dedup_key"] === undefined && sent["status"] === undefined);
  if (named) {
    assert.equal(named.dedupKey, sent["dedup_key"] ?? null);
    assert.notEqual(named.instance, "");
    isText(named.instance, 64);
    isTime(named.expiresAt);
  }
  if (!extra) return;
  isText(extra.details, 32_768);
  isTime(extra.occurredAt);
  assert.ok(extra.links.length <= 16 && extra.images.length <= 8);
  for (const { href, text } of extra.links) {
    isText(text, 2048);
    assert.match(href, /^https?:/);
  }
  for (const { src, alt } of extra.images) {
    isText(alt, 128);
    assert.match(src, /^https?:/);
  }
}
