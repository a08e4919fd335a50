import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eventKinds } from "../../../../src/out/outbox/event.ts";
import { sendSlack, slackMessage } from "../../../../src/out/services/slack/room.ts";
import { escapeWithin } from "../../../../src/out/services/texts.ts";
import { boxEgress } from "../../../support/egress.ts";
import { eventBody, inWords } from "../../../support/events.ts";
import fc, { anyCharacter } from "../../../support/property.ts";
import { answer, startReceiver } from "../../../support/receiver.ts";

interface Sent {
  text: string;
  blocks: { type: string; text?: { type: string; text: string }; elements?: { text: string }[] }[];
}

function message(changes = {}, link: string | null = null): Sent {
  return slackMessage(inWords(eventBody(changes), link)) as Sent;
}

/** Every text of a message that Slack shows. */
function texts({ text, blocks }: Sent): string[] {
  const shown = blocks.flatMap((block) => [
    ...(block.text === undefined ? [] : [block.text.text]),
    ...(block.elements ?? []).map((element) => element.text),
  ]);
  return [text, ...shown];
}

test("the event as blocks, and as text for notifications", () => {
  const { text, blocks } = message({}, "https://box.example/?a=1&b=2");
  assert.match(text, /^ERROR shop: Payment 42 failed for bob\nhost = web-1\n/);
  assert.deepEqual(blocks, [
    { type: "header", text: { type: "plain_text", text: "ERROR shop: Payment 42 failed for bob" } },
    {
      type: "section",
      text: { type: "mrkdwn", text: "host = web-1", verbatim: true },
    },
    {
      type: "context",
      elements: [
        {
          type: "mrkdwn",
          text:
            "error · rule Payments failing · 12 events · 2026-01-05 03:00 to 03:12 UTC · alert 7 · " +
            "<https://box.example/?a=1&amp;b=2|Open>",
          verbatim: true,
        },
      ],
    },
  ]);
});

test("no text of an event can mention anyone or open a link of its own", () => {
  const evil = "<!channel> <@U123> <https://evil.test|click> &lt;!here&gt; @everyone";
  const sent = message({
    project: evil,
    rule: evil,
    last_message: evil,
    identifiers: { [evil]: evil },
  });
  for (const text of texts(sent)) assert.doesNotMatch(text, /[<>]|&(?!amp;|lt;|gt;)/);
  assert.equal(escapeWithin("&lt;!here>", 100), "&amp;lt;!here&gt;");
  const flags = { parse: "none", link_names: false, unfurl_links: false, unfurl_media: false };
  for (const [name, value] of Object.entries(flags)) assert.equal(sent[name as keyof Sent], value);
});

test("an escape that doesn't fit is left out whole", () => {
  assert.equal(escapeWithin("ab<", 5), "ab");
  assert.equal(escapeWithin("ab<", 6), "ab&lt;");
  assert.equal(escapeWithin("a💥", 2), "a");
});

test("any event stays within Slack's limits", () => {
  const text = fc
    .tuple(
      fc.constantFrom("a", "&", "<", "💥", "\n"),
      fc.string({ unit: anyCharacter }),
      fc.nat(6_000),
    )
    .map(([filler, start, length]) => start + filler.repeat(length));
  fc.assert(
    fc.property(
      fc.record({
        event: fc.constantFrom(...eventKinds),
        project: text,
        rule: text,
        last_message: text,
        identifiers: fc.dictionary(text, text, { maxKeys: 10 }),
      }),
      (changes) => {
        const sent = message(changes);
        const [header, ...rest] = sent.blocks;
        assert.equal(header?.type, "header");
        assert.ok((header?.text?.text.length ?? 999) <= 150);
        for (const block of rest) assert.ok((block.text?.text.length ?? 0) <= 3_000);
        for (const block of rest) assert.ok(texts({ text: "x", blocks: [block] }).every(Boolean));
        assert.ok(texts(sent).join("").length <= 4_000);
      },
    ),
    { numRuns: 40 },
  );
});

test("verdicts: Slack's word is kept, 429 waits, its URL is nowhere", async () => {
  const egress = boxEgress();
  const receiver = await startReceiver();
  after(() => Promise.all([egress.close(), receiver.close()]));
  const webhookUrl = `${receiver.url}/services/T0/B0/canary`;
  const send = () =>
    sendSlack({
      egress,
      now: 0,
      credentials: { webhook_url: webhookUrl },
      words: inWords(eventBody()),
    });

  receiver.once(answer(200, "ok"));
  assert.deepEqual((await send()).verdict, { kind: "delivered", status: 200 });
  assert.deepEqual(JSON.parse(receiver.received[0]?.body ?? ""), message());
  assert.equal(receiver.received[0]?.headers["content-type"], "application/json");
  receiver.once(answer(404, "no_service"));
  assert.deepEqual((await send()).verdict, { kind: "later", error: "http 404: no_service" });
  receiver.once(answer(404, `no canary at ${webhookUrl}`));
  assert.deepEqual((await send()).verdict, { kind: "later", error: "http 404" });
  receiver.once(answer(410, "channel_is_archived"));
  assert.deepEqual((await send()).verdict, {
    kind: "never",
    error: "http 410: channel_is_archived",
    disable: true,
  });
  receiver.once(answer(429, "", { "retry-after": "30" }));
  assert.deepEqual((await send()).verdict, {
    kind: "later",
    error: "http 429",
    retryAfterMs: 30_000,
  });
});
