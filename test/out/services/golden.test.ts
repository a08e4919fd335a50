import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Egress, EgressClient } from "../../../src/ground/kit/egress.ts";
import type { EgressRequest } from "../../../src/ground/kit/exchange.ts";
import { heldEgress } from "../../../src/ground/kit/held-egress.ts";
import type { Credentials } from "../../../src/out/outbox/credentials.ts";
import { type AlertFacts, buildEventBody, type EventBody } from "../../../src/out/outbox/event.ts";
import type { EventNames } from "../../../src/out/outbox/event-names.ts";
import { describe, type Message } from "../../../src/out/outbox/message.ts";
import { mailOf } from "../../../src/out/services/email/room.ts";
import { channels } from "../../../src/out/services/list.ts";
import { handClock } from "../../support/clock.ts";
import { clocksWithoutZone } from "../../support/clocks.ts";
import { eventBody } from "../../support/events.ts";
import { handGate } from "../../support/gate.ts";
import { discordFake, googleChatFake, mattermostFake, teamsFake } from "../../support/rooms.ts";

/**
 * What every kind of channel sends, byte for byte: test/out/services/golden/KIND.txt. After a change that is meant, write
 * them anew and read the difference: `RENEW_GOLDEN=1 node … --test test/out/services/golden.test.ts`.
 */
const FOLDER = join(import.meta.dirname, "golden");
const RENEW = process.env["RENEW_GOLDEN"] === "1";

const LINK = "https://box.example/a/7";
const at = eventBody().timestamp;
const person = (name: string, why: string) => ({ people: [{ name, why }], more: 0 });
const always: EventNames = {
  runbook: "https://wiki.example/payments?step=(1)",
  links: [{ text: "Dashboard", href: "https://grafana.example/d/1?var=a&b=<c>" }],
};

interface Case {
  changes: Partial<EventBody>;
  said: EventNames | null;
  link?: null;
}

const kinds: Record<string, Case> = {
  opened: { changes: {}, said: { ...always, next: { at, ...person("Ann", "on call: primary") } } },
  escalated: {
    changes: { event: "alert.escalated", escalation_level: 2, page_accounts: ["a1", "b2"] },
    said: {
      ...always,
      paged: {
        people: [
          { name: "Ann", why: "on call: primary" },
          { name: "Bob", why: "rung 2" },
        ],
        more: 3,
      },
      next: { at: at + 600, ...person("Cy", "on call: second") },
    },
  },
  renotified: {
    changes: { event: "alert.renotified", level: 500 },
    said: { ...always, told: person("Ann", ""), next: null },
  },
  acknowledged: {
    changes: { event: "alert.acknowledged", state: "acknowledged" },
    said: { ...always, by: "Ann" },
  },
  resolved: {
    changes: { event: "alert.resolved", state: "resolved" },
    said: { ...always, by: "Bob", acknowledged: "Ann", lasted: 12_345 },
  },
  test: {
    changes: {
      event: "alert.test",
      alert_id: "test",
      test: true,
      rule: "",
      identifiers: {},
      last_message: "This is a test of the channel ops",
      level: 200,
    },
    said: null,
    link: null,
  },
  disabled: {
    changes: {
      event: "integration.disabled",
      alert_id: "",
      rule: "",
      identifiers: {},
      last_message: "The slack channel ops was disabled after 10 failed attempts: http 404",
      integration: { id: "0123456789abcdef", name: "ops", type: "slack", reason: "http 404" },
    },
    said: null,
    link: null,
  },
};

/** One text wherever a sender or a person of the team can write one. */
function everywhere(text: string): Case {
  const named = { people: [{ name: text, why: `on call: ${text}` }], more: 0 };
  return {
    changes: {
      project: text.slice(0, 128),
      rule: text.slice(0, 200),
      template: text,
      last_message: text,
      identifiers: { [text.slice(0, 100)]: text },
      level: 500,
    },
    said: {
      paged: named,
      next: { at: at + 86_400, ...named },
      acknowledged: text,
      runbook: `https://wiki.example/${"r".repeat(2_000)}`,
      links: [
        { text: text.slice(0, 128), href: `https://a.example/${encodeURI(text.slice(0, 60))}` },
      ],
    },
  };
}

const limits: Record<string, Case> = {
  "many scripts": everywhere("Zahlung 支払い оплата תשלום الدفع भुगतान 💳 👩‍👩‍👧‍👦 e\u0301"),
  "right to left": everywhere("\u202eevil\u202c אבג 1 דהו مرحبا \u2067x\u2069"),
  "a line of 64 KiB": everywhere("x".repeat(65_536)),
  "emoji to the end": everywhere("💥".repeat(20_000)),
  markup: everywhere("@everyone <!channel> <users/all> `x` **b** [c](https://evil.test) &lt; <b>"),
  "more headers": everywhere("x\r\nBcc: a@b.test\r\n\r\nbody \u2028 =?utf-8?q?=0ABcc?="),
};

const keys = { pushover: "x".repeat(30), phone: "+15550001111" };
/** Credentials of each kind that sends requests of its own. */
const credentials: Record<string, Credentials> = {
  webhook: { url: "https://hook.example/in", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" },
  telegram: { token: "123:abc", chat_id: "-100" },
  slack: { webhook_url: "https://hooks.slack.example/services/T/B/x" },
  discord: { webhook_url: `https://discord.example${discordFake.path}` },
  mattermost: { webhook_url: `https://mattermost.example${mattermostFake.path}` },
  google_chat: { webhook_url: `https://chat.example${googleChatFake.path}` },
  teams: { webhook_url: `https://teams.example${teamsFake.path}` },
  matrix: { room_id: "!r:example.org", homeserver: "https://matrix.example", access_token: "t" },
  signal: { recipient: keys.phone, server: "https://signal.example", number: keys.phone },
  ntfy: { topic: "ops-9f86d081" },
  gotify: { server: "https://gotify.example", token: "t" },
  pushover: { token: keys.pushover, user: keys.pushover },
};

/** What the services themselves would say of it. */
const fakes: Record<string, typeof discordFake> = {
  discord: discordFake,
  mattermost: mattermostFake,
  google_chat: googleChatFake,
  teams: teamsFake,
};

/** The event's own bytes, as they are stored. */
function bodyOf({ changes }: Case): string {
  const {
    event,
    event_id,
    alert_id,
    tenant_id,
    timestamp,
    test: isTest,
    integration,
    ...alert
  } = eventBody(changes);
  return buildEventBody({
    event,
    event_id,
    alert_id,
    tenant_id,
    timestamp,
    alert: alert as AlertFacts,
    ...(isTest && { test: isTest }),
    ...(integration && { integration }),
  });
}

function inWords(
  body: string,
  { said, link = LINK }: Pick<Case, "said"> & { link?: string | null },
): Message {
  return describe(JSON.parse(body) as EventBody, { said, link });
}

/** The requests that a kind makes, as text; what is a form or JSON is shown as its fields. */
async function sentBy(
  kind: string,
  one: Case,
  through: (egress: Egress) => Egress = (egress) => egress,
): Promise<string> {
  const body = bodyOf(one);
  const event = JSON.parse(body) as EventBody;
  const words = inWords(body, one);
  const shown: string[] = [];
  const egress = {
    async send(request: { method: string; url: string; headers: object; body: string }) {
      const { method, url, headers, body: sent } = request;
      const { pathname, search } = new URL(url);
      const fake = fakes[kind];
      assert.equal(
        fake?.fault({ method, path: pathname + search, headers: {}, body: sent }) ?? null,
        null,
      );
      assert.deepEqual(fake?.calls(sent) ?? [], []);
      const type = Object.entries(headers).find(([name]) => /content-type/i.test(name))?.[1] ?? "";
      const fields = /form/.test(type)
        ? Object.fromEntries(new URLSearchParams(sent))
        : kind === "webhook"
          ? sent
          : JSON.parse(sent);
      const text = typeof fields === "string" ? fields : JSON.stringify(fields, null, 2);
      const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      shown.push([`${method} ${url}`, ...head, "", text].join("\n"));
      const answer = '{"status":1,"ok":true,"timestamp":"1","event_id":"$1"}';
      const rest = { error: null, headers: {}, truncated: false, sent: true, durationMs: 1 };
      return { ...rest, status: 200, body: answer };
    },
  } as unknown as Egress;
  const found = channels.find(kind);
  assert.ok(found);
  const settings = Object.fromEntries(
    Object.entries(channels.settings).map(([name, { usual }]) => [name, usual]),
  );
  const message = { eventId: event.event_id, event: event.event, body, said: null, signedAt: at };
  await found.send({
    credentials: credentials[kind] ?? {},
    message,
    event,
    words,
    egress: through(egress),
    now: at * 1_000,
    settings,
    host: { hasRelay: () => false },
    integration: { id: "c0ffee0123456789", name: "ops", type: kind } as never,
  });
  return shown.join("\n\n");
}

async function mail(one: Case): Promise<string> {
  const body = bodyOf(one);
  const event = JSON.parse(body) as EventBody;
  const [from, to] = ["box@shop.example", "ann@example.org"];
  const words = inWords(body, one);
  const raw = (await mailOf({ from, to, event, words, now: at * 1_000 })).toString();
  const [, boundary = ""] = /boundary="([^"]+)"/.exec(raw) ?? [];
  return raw.replaceAll(boundary, "B").replaceAll("\r\n", "\n");
}

async function compare(kind: string, make: (one: Case) => Promise<string>): Promise<void> {
  const parts: string[] = [];
  for (const [name, one] of Object.entries({ ...kinds, ...limits }))
    parts.push(`######## ${name}\n\n${await make(one)}\n`);
  const file = join(FOLDER, `${kind}.txt`);
  const now = parts.join("\n");
  if (RENEW) writeFileSync(file, now);
  else assert.equal(now, readFileSync(file, "utf8"));
}

for (const kind of Object.keys(credentials))
  test(`${kind}: each kind of event, and the service's limits`, () =>
    compare(kind, (one) => sentBy(kind, one)));

test("no kind sends anything before the gate of its egress is opened", async () => {
  for (const kind of Object.keys(credentials)) {
    const [gate, clock] = [handGate(), handClock()];
    let left = 0;
    gate.shut();
    const one = kinds["opened"] as Case;
    const sent = sentBy(kind, one, (egress) => {
      const noting = {
        ...egress,
        send(request: EgressRequest) {
          left += 1;
          return egress.send(request);
        },
      };
      return heldEgress(noting as EgressClient, gate.durable, clock);
    });
    while (gate.asked === 0) await clock.turn(1);
    await clock.turn(1);
    assert.equal(left, 0, kind);
    gate.open();
    assert.notEqual(await sent, "", kind);
    assert.ok(left > 0, kind);
  }
});

test("email: each kind of event, and what a mail's header must not hold", () =>
  compare("email", mail));

test("the webhook's requests hold the event's own bytes and nothing of what people are told", () => {
  const golden = readFileSync(join(FOLDER, "webhook.txt"), "utf8");
  for (const one of Object.values(kinds)) assert.ok(golden.includes(`\n${bodyOf(one)}\n`));
  assert.doesNotMatch(golden, /wiki\.example/);
});

test("every kind that sends has its golden file, and no file is left of one that doesn't", () => {
  const all = channels.kinds.map(({ kind }) => kind).filter((kind) => kind !== "apns");
  assert.deepEqual(readdirSync(FOLDER).sort(), all.map((kind) => `${kind}.txt`).sort());
});

test("every time of day in a message names its zone", () => {
  for (const file of readdirSync(FOLDER)) {
    const sent = readFileSync(join(FOLDER, file), "utf8");
    // A mail breaks long lines softly.
    assert.deepEqual(clocksWithoutZone(sent.replaceAll("=\n", "")), [], file);
  }
});
