import assert from "node:assert/strict";
import { validateHeaderName, validateHeaderValue } from "node:http";
import { isIP } from "node:net";
import { addressClass, addressRefusal, inCidr, parseCidr } from "../../src/ground/kit/addresses.ts";
import { ServiceError } from "../../src/ground/kit/errors.ts";
import { checkHeaders } from "../../src/ground/kit/headers.ts";
import { parseHttpDate } from "../../src/ground/kit/http-date.ts";
import { parseToken } from "../../src/ground/kit/ids.ts";
import { excessOf, parseJson } from "../../src/ground/kit/json.ts";
import { formatPhc, parsePhc } from "../../src/ground/kit/password.ts";
import { queryInteger } from "../../src/ground/kit/query-fields.ts";
import { isSignedBy, readSignatureHeaders, signature } from "../../src/ground/kit/sign.ts";
import { isStorable } from "../../src/ground/kit/text.ts";
import { checkUrl } from "../../src/ground/kit/url.ts";
import { readRelayedEvent } from "../../src/hosted/relay-event.ts";
import { syslogEvent, tokenOfSyslog } from "../../src/in/adapters/syslog/event.ts";
import { createFrames, type Framed } from "../../src/in/adapters/syslog/frames.ts";
import { readSyslog } from "../../src/in/adapters/syslog/message.ts";
import { checkEvent } from "../../src/in/ingest/event.ts";
import { parseRetryAfter } from "../../src/out/outbox/retry.ts";
import { gateCookie, opensGate } from "../../src/records/reports/cookie.ts";
import { prefersJson } from "../../src/web/http/accept.ts";
import { clientAddress } from "../../src/web/http/address.ts";
import { bearer } from "../../src/web/http/bearer.ts";
import { readLaneHead } from "../../src/web/http/lane-head.ts";
import { ingestSchema } from "../../src/web/http/openapi.ts";
import { readQuery } from "../../src/web/http/read-request.ts";
import { readsLikeNode } from "../network/lane-oracle.ts";
import { Input } from "./input.ts";

/** What `run` answers, or the refusal that it throws; anything else that it throws is a fault. */
function orRefusal<T>(run: () => T): T | ServiceError {
  try {
    return run();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

const isOf = (text: string, chars: RegExp, length: number) =>
  text.length === length && [...text].every((char) => chars.test(char));

/** A bearer's shape, told apart without one regular expression for all of it. */
export function token(bytes: Buffer): void {
  const text = bytes.toString("latin1");
  const found = bearer(text);
  if (found !== null) assert.equal(`bearer ${found}`.toLowerCase(), text.toLowerCase());
  const parsed = parseToken(text);
  const [plane = "", tenant = "", secret = "", ...more] = text.split("_");
  const withTenant =
    (plane === "ptk" || plane === "pti") &&
    more.length === 0 &&
    isOf(tenant, /[0-9a-f]/, 16) &&
    isOf(secret, /[0-9A-Za-z]/, 43);
  const session =
    plane === "pts" && text.split("_").length === 2 && isOf(tenant, /[0-9A-Za-z]/, 43);
  assert.equal(parsed !== null, withTenant || session);
}

/** The depth is counted rightly, nothing but a refusal is thrown, and the event is what the schema says. */
export function json(bytes: Buffer): void {
  const text = bytes.toString("utf8");
  const value = orRefusal(() => parseJson(text));
  let plain: unknown;
  try {
    plain = JSON.parse(text);
  } catch {
    assert.ok(value instanceof ServiceError);
    return;
  }
  const isTooDeep = excessOf(text, { deepest: 32, values: Infinity }) !== null;
  assert.equal(isTooDeep, depthOf(plain) > 32);
  if (value instanceof ServiceError) {
    assert.ok(isTooDeep || value.code === "body_too_large");
    return;
  }
  const event = orRefusal(() => checkEvent(value, text));
  // A number as it was written may be longer than a value may be, or infinite; one name is passed over.
  if (/__proto__|\d{300}|\d[eE]\+?\d{3}/.test(text)) return;
  assert.equal(event instanceof ServiceError, !ingestSchema.safeParse(value).success, text);
}

function depthOf(value: unknown): number {
  let level: unknown[] = [value];
  let depth = 0;
  for (;;) {
    level = level.filter((one) => typeof one === "object" && one !== null);
    if (level.length === 0) return depth;
    depth++;
    level = level.flatMap((one) => Object.values(one as object));
  }
}

const SECRET = "s".repeat(43);

/** Only a signature over just these bytes is believed. */
export function signatures(bytes: Buffer): void {
  const input = new Input(bytes);
  const timestamp = input.flag() ? String(input.integer()) : input.text();
  const given = input.flag() ? input.text() : signature(SECRET, timestamp, "body");
  const body = input.flag() ? "body" : input.text();
  const headers = readSignatureHeaders(timestamp, given);
  assert.equal(
    headers !== null,
    timestamp.length > 0 &&
      timestamp.length <= 12 &&
      isOf(timestamp, /[0-9]/, timestamp.length) &&
      isOf(given, /[0-9a-f]/, 64),
  );
  if (headers === null) return;
  assert.equal(isSignedBy(SECRET, headers, body), given === signature(SECRET, timestamp, body));
}

/** What is read as an address is one; one address in two spellings is judged alike; ranges hold their own. */
export function addresses(bytes: Buffer): void {
  const input = new Input(bytes);
  const text = input.flag() ? [0, 0, 0, 0].map(() => input.byte()).join(".") : input.text();
  const role = input.pick(["box", "hosted"] as const);
  const refusal = addressRefusal(text, { role });
  if (!text.includes("%")) assert.equal(refusal === "not_an_address", isIP(text) === 0, text);
  if (isIP(text) === 4) {
    assert.equal(addressRefusal(`::ffff:${text}`, { role }), refusal);
    assert.equal(addressRefusal(`64:ff9b::${text}`, { role }) === null, refusal === null);
    if (text.startsWith("169.254.") || text.startsWith("0.") || Number(text.split(".")[0]) >= 224)
      assert.notEqual(refusal, null, text);
  }
  if (addressClass(text) === "loopback") assert.match(text.toLowerCase(), /127\.|7f|1/);
  const range = input.text();
  const cidr = parseCidr(range);
  if (cidr !== null) {
    assert.ok(inCidr(range.split("/")[0] ?? "", cidr), range);
    assert.equal(typeof clientAddress([]).trusts(range), "boolean");
  }
  assert.equal(typeof clientAddress(["10.0.0.0/8"])("10.0.0.1", text), "string");
}

/** A URL is refused in words or is one that can be called. */
export function urls(bytes: Buffer): void {
  const text = bytes.toString("utf8");
  const url = orRefusal(() => checkUrl(text, { role: "hosted" }));
  if (url instanceof ServiceError) return;
  assert.match(url.protocol, /^https?:$/);
  assert.equal(url.username + url.password, "");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) assert.equal(addressRefusal(host, { role: "hosted" }), null, text);
}

/** What passes can be sent, and never sets what isn't the caller's. */
export function headers(bytes: Buffer): void {
  const input = new Input(bytes);
  const given = Object.fromEntries([0, 1, 2].map(() => [input.text(), input.long()]));
  if (checkHeaders(given).length > 0) return;
  for (const [name, value] of Object.entries(given)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    assert.doesNotMatch(name, /^(host|content-length|transfer-encoding|connection|x-service-.*)$/i);
  }
}

/** A wait is asked for in seconds or by a date, and is within an hour; a date reads as Node reads it. */
export function retryAfter(bytes: Buffer): void {
  const input = new Input(bytes);
  const now = Date.UTC(2026, 0, 5);
  const date = input.flag() ? input.text() : undefined;
  const text = input.rest().toString("latin1");
  const wait = parseRetryAfter(text, { now, date });
  if (wait !== undefined) assert.ok(wait >= 0 && wait <= 3_600_000, `${wait}`);
  const at = parseHttpDate(text);
  if (at === null) return;
  const [, day = "", month = "", year = ""] = /^\w{3}, (\d\d) (\w{3}) (\d{4})/.exec(text) ?? [];
  const again = new Date(at).toUTCString();
  if (year !== "")
    assert.equal(
      again.slice(5),
      `${day} ${month} ${year}${text.slice(16).replace(":60 ", ":59 ")}`,
    );
}

const GATE = { reportId: "r", uuid: "u", passwordVersion: "p" };
const KEY = { key: Buffer.alloc(32, 7), now: 1_000_000 };
const GOOD = gateCookie(GATE, KEY, { path: "/", secure: false }).split(";")[0] ?? "";

/** No cookie opens a gate but the one that it gave. */
export function cookie(bytes: Buffer): void {
  const text = bytes.toString("latin1");
  const isOpen = opensGate(text, GATE, { ...KEY, secure: false });
  if (isOpen) assert.ok(text.includes(GOOD), text);
  assert.ok(opensGate(`a=b; ${GOOD}`, GATE, { ...KEY, secure: false }));
}

/** What is read is written back the same, and asks for no more than is allowed. */
export function phc(bytes: Buffer): void {
  const text = bytes.toString("latin1");
  const kept = parsePhc(text);
  if (kept === null) return;
  assert.ok(kept.cost.memory <= 65_536 && kept.cost.passes <= 16 && kept.cost.lanes <= 4);
  assert.ok(
    kept.cost.memory >= 8 * kept.cost.lanes && kept.salt.length >= 8 && kept.tag.length >= 16,
  );
  const again = parsePhc(formatPhc(kept));
  assert.deepEqual(again, kept);
}

/** A query is a record or a refusal; an integer is taken as it is written. */
export function query(bytes: Buffer): void {
  const text = bytes.toString("utf8");
  const read = orRefusal(() => readQuery(text));
  const names = [...new URLSearchParams(text).keys()];
  assert.equal(read instanceof ServiceError, new Set(names).size < names.length);
  const integer = queryInteger(0, 500).safeParse(text);
  assert.equal(
    integer.success,
    String(Number(text)) === text && /^\d+$/.test(text) && Number(text) <= 500,
  );
  assert.equal(typeof prefersJson(text), "boolean");
}

/** A relayed body is an event or a sentence, whatever the bytes. */
export function relayed(bytes: Buffer): void {
  const event = readRelayedEvent(bytes);
  if (typeof event === "string") assert.ok(event.length > 0 && event.length < 200);
  else
    assert.ok(event.event !== "" && Number.isFinite(event.count) && Number.isFinite(event.level));
}

/** Any bytes are messages of syslog, the same ones however they are cut into chunks. */
export function syslogMessages(bytes: Buffer): void {
  const input = new Input(bytes);
  const size = 1 + input.byte();
  const options = { level_from_text: input.flag(), logfmt: input.flag() };
  const rest = input.rest();
  const [whole, pieces] = [createFrames(), createFrames()];
  const frames = [...whole.push(rest), ...whole.end()];
  const again: Framed[] = [];
  for (let at = 0; at < rest.length; at += size)
    again.push(...pieces.push(rest.subarray(at, at + size)));
  assert.deepEqual([...again, ...pieces.end()], frames);
  for (const frame of frames) {
    const message = readSyslog(frame.bytes, 1_767_603_600);
    const event = syslogEvent(message, {
      options,
      peer: "192.0.2.1",
      at: 1_767_603_600,
      cut: frame.cut,
      watched: () => new Set(),
    });
    assert.ok(event.message !== "" && isStorable(event.message));
    assert.ok([100, 200, 300, 400, 500].includes(event.level));
    const token = tokenOfSyslog(message);
    assert.ok(token === null || typeof token === "string");
  }
}

/** A request that the ingest lane takes is the one that Node's server reads. */
export function laneHead(bytes: Buffer): void {
  const [head = Buffer.alloc(0), body] = cut(bytes, "\r\n\r\n");
  const read = readLaneHead(head.toString("latin1"));
  if (read === null || read.length > 4096) return;
  // A body of the length that the head tells, so that each head that is taken is compared.
  const whole = Buffer.alloc(read.length, "{");
  body?.copy(whole);
  assert.ok(readsLikeNode(Buffer.concat([head, Buffer.from("\r\n\r\n"), whole])));
}

function cut(bytes: Buffer, at: string): [Buffer, Buffer | undefined] {
  const end = bytes.indexOf(at);
  return end === -1
    ? [bytes, undefined]
    : [bytes.subarray(0, end), bytes.subarray(end + at.length)];
}
