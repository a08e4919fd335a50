import assert from "node:assert/strict";
import type { Condition } from "../../src/core/projects/condition.ts";
import { ruleReplace } from "../../src/core/projects/rule.ts";
import { open, seal } from "../../src/ground/kit/seal.ts";
import { codePoints, cut, fits, isStorable, storableMessage } from "../../src/ground/kit/text.ts";
import { buildPayload, noticeOf } from "../../src/hosted/push.ts";
import type { IngestEvent } from "../../src/in/ingest/event.ts";
import { compileRule, matches } from "../../src/in/ingest/match.ts";
import { Miner } from "../../src/in/ingest/template/miner.ts";
import { buildEventBody, type EventBody, eventKinds } from "../../src/out/outbox/event.ts";
import { describe } from "../../src/out/outbox/message.ts";
import { slackMessage } from "../../src/out/services/slack/room.ts";
import { telegramText } from "../../src/out/services/telegram/room.ts";
import { renderMarkdown } from "../../src/records/reports/render.ts";
import { contentFaults } from "../records/reports/oracle.ts";
import { anyTime } from "../support/patterns.ts";
import { Input } from "./input.ts";

/** Milliseconds that `run` takes, the best of a few, so that only a real slowness counts. */
function best(run: () => void, enough: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 4 && least > enough; i++) {
    const from = performance.now();
    run();
    least = Math.min(least, performance.now() - from);
  }
  return least;
}

/** The aim is 20 ms; code that counts its edges on a busy machine needs room, and a bad input takes seconds. */
const MINER_MS = 500;
let miner = new Miner({ limit: 500, rows: [] });
let mined = 0;

/** The same line gets the same id, now and by a miner that knows what this one wrote; in time. */
export function template(bytes: Buffer): void {
  const input = new Input(bytes);
  const message = storableMessage(input.flag() ? input.long() : input.rest().toString("utf8"));
  if (++mined % 2000 === 0) miner = new Miner({ limit: 500, rows: [] });
  const { id, root } = miner.mine(message);
  const again = miner.mine(message);
  assert.deepEqual([again.id, again.root.id], [id, root.id]);
  assert.match(id, /^[0-9a-f]{16}$/);
  assert.ok(root.text.isWellFormed() && !root.text.includes("\0"));
  const other = new Miner({ limit: 500, rows: [] });
  assert.equal(other.mine(message).id, id);
  const ms = best(() => new Miner({ limit: 10, rows: [] }).mine(message), MINER_MS);
  assert.ok(ms <= MINER_MS, `${ms} ms`);
}

const OPS: readonly [Condition["op"], ...Condition["op"][]] = ["eq", "neq", "gte", "lte"];

/** A condition holds as the words of its rule say. */
export function conditions(bytes: Buffer): void {
  const input = new Input(bytes);
  const op = input.pick(OPS);
  const value = input.pick<Condition["value"]>([input.text(), input.integer() / 100, input.flag()]);
  const sent = input.flag() ? input.text() : String(input.integer() / 100);
  const keys = input.flag() ? { key: sent } : null;
  const rule = compileRule({
    ...ruleReplace.parse({}),
    id: 1,
    project_id: 1,
    name: "r",
    created_at: 0,
    updated_at: 0,
    conditions: [{ key: "key", op, value }],
  });
  const event: IngestEvent = { message: "", level: 0, keys, tags: null };
  const holds = matches(rule, event, anyTime);
  if (keys === null) assert.equal(holds, op === "neq");
  else if (op === "eq" || op === "neq")
    assert.equal(holds, (sent === String(value)) === (op === "eq"));
  else {
    const [a, b] = [Number(sent), Number(value)];
    // Where it holds both are numbers, and in that order; where they plainly are, it does.
    if (holds) assert.ok(op === "gte" ? a >= b : a <= b);
    else if (/^\d+(\.\d+)?$/.test(sent) && typeof value === "number")
      assert.ok(op === "gte" ? a < b : a > b);
  }
}

/** No tag, attribute or scheme but the listed ones, for any Markdown. */
export function markdown(bytes: Buffer): void {
  const html = renderMarkdown(bytes.subarray(0, 512).toString("utf8"));
  assert.deepEqual(contentFaults(html), []);
}

const key = { id: "0123456789abcdef", bytes: Buffer.alloc(32, 1) };
const ring = {
  present: key,
  keys: new Map([[key.id, key]]),
  random: { bytes: (n: number) => Buffer.alloc(n, 9), fraction: () => 0 },
};

/** Only what was sealed for the place opens there, to what it was. */
export function sealed(bytes: Buffer): void {
  const input = new Input(bytes);
  const text = input.text().toWellFormed();
  const context = input.text();
  const whole = seal(ring, text, context);
  assert.deepEqual(open(ring, whole, context), { ok: true, text });
  const at = input.integer() % whole.length;
  const bent = input.flag()
    ? input.rest().toString("latin1")
    : whole.slice(0, at) + input.text() + whole.slice(at + 1);
  const opened = open(ring, bent, context);
  if (opened.ok) assert.equal(opened.text, text, bent);
  if (context !== "x") assert.equal(open(ring, whole, "x").ok, context.toWellFormed() === "x");
}

function event(input: Input): EventBody {
  const text = () => input.long().toWellFormed();
  const identifiers = Object.fromEntries(
    [0, 1, 2].map(() => [input.text().toWellFormed(), cut(text(), 4096)]),
  );
  return JSON.parse(
    buildEventBody({
      event: input.pick(eventKinds),
      event_id: "e",
      alert_id: "1",
      tenant_id: "t",
      timestamp: input.integer(),
      alert: {
        project: cut(text(), 128),
        rule: cut(text(), 200),
        state: "open",
        template: cut(text(), 4096),
        level: input.integer(),
        count: input.integer(),
        first_seen: input.integer(),
        last_seen: input.integer(),
        last_message: cut(text(), 65_536),
        identifiers,
        investigate: input.flag(),
        escalation_level: 1,
        page_accounts: ["a"],
      },
    }),
  );
}

/** An event is at most 32 KiB of JSON, and what was cut says so. */
export function eventBody(bytes: Buffer): void {
  const body = event(new Input(bytes));
  assert.ok(Buffer.byteLength(JSON.stringify(body)) <= 32 * 1024);
  assert.ok(codePoints(body.last_message) <= 4096);
  assert.deepEqual(body.page_accounts, ["a"]);
}

/** A push is at most 4,096 bytes of JSON that reads back, whatever the alert holds. */
export function push(bytes: Buffer): void {
  const input = new Input(bytes);
  const notice = noticeOf({
    tenantId: input.text(),
    event: input.text(),
    alertId: input.text(),
    project: input.long(),
    rule: input.long(),
    template: input.long(),
    count: input.integer(),
    level: input.integer(),
  });
  const payload = buildPayload(notice, { criticalAlerts: input.flag() });
  assert.ok(Buffer.byteLength(payload) <= 4096);
  const { aps } = JSON.parse(payload);
  assert.equal(typeof aps.alert.title, "string");
}

/** Chat messages keep to their channel's limits, and nothing in an event speaks to the channel. */
export function chat(bytes: Buffer): void {
  const input = new Input(bytes);
  const body = event(input);
  const link = input.flag() ? "https://box.example/a?b=<c>|d" : null;
  const telegram = telegramText(describe(body, { link }));
  assert.ok(telegram.length <= 4096 && telegram.isWellFormed());
  const slack = slackMessage(describe(body, { link })) as {
    text: string;
    blocks: { text?: { text: string }; elements?: { text: string }[] }[];
  };
  const texts = [
    slack.text,
    ...slack.blocks.flatMap((one) => [
      one.text?.text,
      ...(one.elements ?? []).map(({ text }) => text),
    ]),
  ];
  for (const text of texts.filter((one) => one !== undefined)) {
    assert.ok(text.length <= 3000 && text.isWellFormed());
    const marks = text.replace(/<https:\/\/box\.example\/[^<>|]*\|Open>/, "");
    assert.doesNotMatch(marks, /[<>]/);
  }
}

/** Cutting keeps a beginning of at most so many characters, and never half of one. */
export function texts(bytes: Buffer): void {
  const input = new Input(bytes);
  const most = input.integer() % 300;
  const text = input.rest().toString(bytes.length % 2 === 0 ? "utf16le" : "utf8");
  const kept = cut(text, most);
  assert.ok(text.startsWith(kept) && codePoints(kept) <= most);
  assert.equal(codePoints(text), [...text].length);
  assert.equal(fits(text, most), codePoints(text) <= most);
  assert.equal(kept === text, fits(text, most));
  if (text.isWellFormed()) assert.ok(kept.isWellFormed());
  assert.ok(isStorable(storableMessage(text)));
}
