import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import { systemRandom } from "../../../../src/ground/kit/random.ts";
import { describe } from "../../../../src/out/outbox/message.ts";
import { testMessage } from "../../../../src/out/paging/say.ts";
import { ntfyContact } from "../../../../src/out/services/ntfy/person.ts";
import { ntfyMessage, sendNtfy } from "../../../../src/out/services/ntfy/room.ts";
import { boxEgress } from "../../../support/egress.ts";
import { eventBody, inWords } from "../../../support/events.ts";
import fc, { anyCharacter } from "../../../support/property.ts";
import { NTFY_TOKEN, ntfyServer } from "../../../support/pushes.ts";
import { answer, type Receiver, startReceiver } from "../../../support/receiver.ts";

const egress = boxEgress();
after(() => egress.close());

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

const send = (token = "") =>
  sendNtfy({
    egress,
    now: 0,
    credentials: { server: receiver.url, topic: "ops-9f86d081", access_token: token },
    event: eventBody(),
    words: inWords(eventBody()),
  });

type Shown = { title: string; message: string; priority: number; tags: string[]; click?: string };
const shown = (...args: Parameters<typeof ntfyMessage>) => ntfyMessage(...args) as Shown;

test("JSON to the server's root, with the token where there is one", async () => {
  receiver.once(answer(200, { id: "x" }), answer(200, { id: "y" }));
  assert.deepEqual((await send()).verdict, { kind: "delivered", status: 200 });
  await send("tk_canary");
  const [open, closed] = receiver.received;
  assert.deepEqual(
    [open?.method, open?.path, open?.headers["authorization"]],
    ["POST", "/", undefined],
  );
  assert.deepEqual(JSON.parse(open?.body ?? ""), {
    topic: "ops-9f86d081",
    ...ntfyMessage(eventBody(), inWords(eventBody())),
  });
  assert.equal(closed?.headers["authorization"], "Bearer tk_canary");
});

test("what needs somebody rings, the louder the worse; what is over makes no sound", () => {
  const priority = (event: string, level: number) =>
    shown(
      eventBody({ event: event as "alert.opened", level }),
      inWords(eventBody({ event: event as "alert.opened", level })),
    ).priority;
  const table = [
    ["alert.opened", 500, 5],
    ["alert.opened", 400, 4],
    ["alert.opened", 300, 3],
    ["alert.escalated", 300, 4],
    ["alert.renotified", 500, 5],
    ["alert.acknowledged", 500, 2],
    ["alert.resolved", 500, 2],
    ["alert.test", 500, 3],
  ] as const;
  for (const [event, level, expected] of table)
    assert.equal(priority(event, level), expected, event);
});

test("any event fits in what the server shows as a message, cut between characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 9_000 }), (text) => {
      const event = eventBody({ last_message: text.toWellFormed() });
      const said = shown(event, inWords(event, "https://box.example/a/1"));
      assert.ok(Buffer.byteLength(said.message) <= 3_900 && said.message.isWellFormed());
      assert.ok(Buffer.byteLength(said.title) <= 200 && said.title !== "" && said.message !== "");
      assert.equal(said.click, "https://box.example/a/1");
    }),
    { numRuns: 50 },
  );
  assert.ok(
    shown(
      eventBody({ project: "💥".repeat(128) }),
      inWords(eventBody({ project: "💥".repeat(128) })),
    ).title.isWellFormed(),
  );
});

test("the server takes it however long the addresses are that the sender sent along, and whatever must be escaped", async () => {
  const { behaviour, faults } = ntfyServer();
  receiver.always(behaviour);
  const long = (length: number) => `https://prometheus.example/graph?g0.expr=${"x".repeat(length)}`;
  const links = [1_990, 1_700, 900].map((length) => ({ text: "Graph", href: long(length) }));
  const runbook = long(2_000);
  for (const last_message of ["x", '{"a":"b"}'.repeat(600), "💥".repeat(9_000), "\\".repeat(4_000)])
    for (const body of [[], ['"'.repeat(3_500)]]) {
      const event = eventBody({ last_message });
      const words = describe(event, { link: "https://box.example/a/7", said: { runbook, links } });
      const { verdict } = await sendNtfy({
        egress,
        now: 0,
        credentials: { server: receiver.url, topic: "ops-9f86d081", access_token: NTFY_TOKEN },
        event,
        words: body.length === 0 ? words : { ...words, details: body },
      });
      assert.equal(verdict.kind, "delivered", faults.join());
    }
});

test("so it does with a page, whose buttons stay", async () => {
  const { behaviour, faults, published } = ntfyServer();
  receiver.always(behaviour);
  const message = {
    ...testMessage("evt_1"),
    purpose: "page" as const,
    level: 500,
    lines: ['\\"'.repeat(2_000)],
    link: "https://box.example/a/7",
    ack: { url: `https://box.example/ack/${"x".repeat(200)}`, handle: "k3v9x2m7q4t8" },
  };
  for (const answers of ["", "box-0123456789"]) {
    const sent = await ntfyContact.send({
      gateway: { url: receiver.url, access_token: NTFY_TOKEN, answers },
      message,
      egress,
      fields: { address: "ann-4711" },
      random: systemRandom,
      now: 0,
      publicUrl: null,
      whose: "",
      tenantId: "t",
      since: null,
      receipt: "r",
    });
    assert.equal(sent.verdict.kind, "delivered", faults.join());
    const { actions = [] } = Object(published.at(-1)) as { actions?: { label: string }[] };
    const labels = actions.map(({ label }) => label);
    assert.deepEqual(labels, ["Acknowledge", "Resolve", "Look"]);
  }
});

test("what another answers in the server's place, a portal that wants its terms accepted, is no success", async () => {
  receiver.once(answer(200, "<html>Welcome!"), answer(200, { ok: true }));
  for (let i = 0; i < 2; i++)
    assert.deepEqual((await send()).verdict, { kind: "later", error: "http 200: not accepted" });
});

test("a server that is busy says how long; a refusal keeps the page waiting, with its status", async () => {
  receiver.once(answer(429, {}, { "retry-after": "7" }), answer(401, {}), answer(413, {}));
  assert.deepEqual((await send()).verdict, {
    kind: "later",
    error: "http 429",
    retryAfterMs: 7_000,
  });
  assert.deepEqual((await send()).verdict, { kind: "later", error: "http 401" });
  assert.deepEqual((await send()).verdict, { kind: "later", error: "http 413" });
});
