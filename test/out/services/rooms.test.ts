import assert from "node:assert/strict";
import { after, afterEach, beforeEach, describe, test } from "node:test";
import { type EventBody, eventKinds } from "../../../src/out/outbox/event.ts";
import { describe as inFull } from "../../../src/out/outbox/message.ts";
import type { ChannelAttempt, WordsAttempt } from "../../../src/out/services/channel.ts";
import { discord, discordMessage } from "../../../src/out/services/discord/room.ts";
import { googleChat, googleChatMessage } from "../../../src/out/services/google-chat/room.ts";
import { matrixMessage } from "../../../src/out/services/matrix/room.ts";
import { mattermost, mattermostMessage } from "../../../src/out/services/mattermost/room.ts";
import { signalText } from "../../../src/out/services/signal/room.ts";
import { slackMessage } from "../../../src/out/services/slack/room.ts";
import { teams, teamsMessage } from "../../../src/out/services/teams/room.ts";
import { telegramText } from "../../../src/out/services/telegram/room.ts";
import { codeBlock, plainMarkdown } from "../../../src/out/services/texts.ts";
import { boxEgress } from "../../support/egress.ts";
import { eventBody, inWords } from "../../support/events.ts";
import fc from "../../support/property.ts";
import { answer, type Receiver, startReceiver } from "../../support/receiver.ts";
import {
  discordFake,
  googleChatFake,
  hostileTexts,
  mattermostFake,
  roomServer,
  teamsFake,
} from "../../support/rooms.ts";

const egress = boxEgress();
after(() => egress.close());

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

/** These need no more of an attempt. */
const sendTo =
  (room: typeof discord | typeof mattermost | typeof googleChat | typeof teams) =>
  (attempt: WordsAttempt<{ webhook_url: string }>) =>
    room.send(attempt as unknown as ChannelAttempt);

const rooms = {
  discord: { send: sendTo(discord), message: discordMessage, fake: discordFake },
  mattermost: { send: sendTo(mattermost), message: mattermostMessage, fake: mattermostFake },
  google_chat: { send: sendTo(googleChat), message: googleChatMessage, fake: googleChatFake },
  teams: { send: sendTo(teams), message: teamsMessage, fake: teamsFake },
};

const LINK = "https://box.example/a/7";
const title = "ERROR shop: Payment 42 failed for bob";
const facts = "error · rule Payments failing · 12 events · 2026-01-05 03:00 to 03:12 UTC · alert 7";

test("Discord: the title as text, what was logged as code, and nobody may be called", () => {
  assert.deepEqual(discordMessage(eventBody(), inWords(eventBody(), LINK)), {
    content: title,
    embeds: [
      {
        color: 0xd9480f,
        footer: { text: facts },
        description: `\`\`\`\nhost = web-1\n\`\`\`\n[Open](${LINK})`,
      },
    ],
    allowed_mentions: { parse: [] },
  });
});

test("Mattermost: a post with an attachment", () => {
  assert.deepEqual(
    mattermostMessage(eventBody({ level: 500 }), inWords(eventBody({ level: 500 }), LINK)),
    {
      text: title.replace("ERROR", "CRITICAL"),
      attachments: [
        {
          color: "#b3261e",
          footer: facts.replace("error", "critical"),
          title: "Open",
          title_link: LINK,
          fallback: `host = web-1\n${facts.replace("error", "critical")}`,
          text: `\`\`\`\nhost = web-1\n\`\`\``,
        },
      ],
    },
  );
});

test("Google Chat: text and card in the alert's own thread", () => {
  assert.deepEqual(googleChatMessage(eventBody(), inWords(eventBody(), LINK)), {
    text: title,
    thread: { threadKey: "box-0123456789abcdef-7" },
    cardsV2: [
      {
        cardId: "alert",
        card: {
          sections: [
            {
              widgets: [
                { textParagraph: { text: `host = web-1` } },
                { textParagraph: { text: facts } },
                {
                  buttonList: { buttons: [{ text: "Open", onClick: { openLink: { url: LINK } } }] },
                },
              ],
            },
          ],
        },
      },
    ],
  });
});

test("Teams: a card of texts that know no markup", () => {
  const run = (text: string, look: object) => ({
    type: "RichTextBlock",
    inlines: [{ type: "TextRun", text, ...look }],
  });
  assert.deepEqual(
    teamsMessage(
      eventBody({ event: "alert.resolved" }),
      inWords(eventBody({ event: "alert.resolved" }), LINK),
    ),
    {
      type: "message",
      attachments: [
        {
          contentType: "application/vnd.microsoft.card.adaptive",
          contentUrl: null,
          content: {
            $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
            type: "AdaptiveCard",
            version: "1.4",
            body: [
              run("Resolved shop: Payment 42 failed for bob", {
                size: "Large",
                weight: "Bolder",
                color: "Good",
              }),
              run("host = web-1", { fontType: "Monospace" }),
              run(facts, { isSubtle: true }),
            ],
            actions: [{ type: "Action.OpenUrl", title: "Open", url: LINK }],
            msteams: { width: "Full" },
          },
        },
      ],
    },
  );
});

test("an escape keeps names readable, and a block of code ends where it should", () => {
  assert.equal(plainMarkdown("ALERT: disk_full @all"), "ALERT: disk\\_full @\u200ball");
  assert.equal(codeBlock(["a```b"], 100), "```\na`\u200b`\u200b`b\n```");
  assert.equal(codeBlock(["💥💥"], 11), "```\n💥…\n```");
});

for (const [kind, { send, message, fake }] of Object.entries(rooms)) {
  describe(kind, () => {
    const post = (event: EventBody = eventBody()) =>
      send({
        egress,
        now: 0,
        credentials: { webhook_url: receiver.url + fake.path },
        event,
        words: inWords(event, LINK),
      });

    test("the service takes what logs and names may hold, and calls nobody", async () => {
      const { behaviour, faults } = roomServer(fake);
      receiver.always(behaviour);
      for (const text of hostileTexts)
        for (const event of ["alert.opened", "alert.resolved"] as const) {
          const identifiers = { [text.slice(0, 200)]: text };
          const names = { project: text.slice(0, 128), rule: text.slice(0, 128) };
          const { verdict } = await post(
            eventBody({ event, last_message: text, template: text, identifiers, ...names }),
          );
          assert.equal(verdict.kind, "delivered", faults.join());
        }
      assert.deepEqual(
        receiver.received.flatMap(({ body }) => fake.calls(body)),
        [],
      );
    });

    test("any event stays within the service's limits", () => {
      const text = fc
        .tuple(
          fc.constantFrom("a", "`", "<", "@", "💥", "\n", "&", '"'),
          fc.string(),
          fc.nat(6_000),
        )
        .map(([filler, start, length]) => start + filler.repeat(length));
      const events = fc.record({
        event: fc.constantFrom(...eventKinds),
        level: fc.nat(600),
        project: text,
        rule: text,
        last_message: text,
        identifiers: fc.dictionary(text, text, { maxKeys: 8 }),
      });
      fc.assert(
        fc.property(events, fc.constantFrom(null, LINK), (changes, link) => {
          const body = JSON.stringify(
            message(eventBody(changes), inWords(eventBody(changes), link)),
          );
          const path = new URL(`http://x${fake.path}`);
          if (kind === "discord") path.searchParams.set("wait", "true");
          if (kind === "google_chat")
            path.searchParams.set("messageReplyOption", "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD");
          const request = { method: "POST", path: path.pathname + path.search, headers: {}, body };
          assert.equal(fake.fault(request), null);
          assert.deepEqual(fake.calls(body), []);
          assert.ok(JSON.stringify(JSON.parse(body)).isWellFormed());
        }),
        { numRuns: 40 },
      );
    });

    test("its refusal is told by its own word, and tried again; only 410 is for good", async () => {
      const [, refusal] = fake.refused("Some_reason");
      receiver.once(answer(404, refusal), answer(410, "gone"), answer(500, "canary/echo"));
      assert.deepEqual((await post()).verdict, { kind: "later", error: "http 404: Some_reason" });
      assert.deepEqual((await post()).verdict, {
        kind: "never",
        error: "http 410",
        disable: true,
      });
      assert.deepEqual((await post()).verdict, { kind: "later", error: "http 500" });
      receiver.once(answer(429, {}, { "retry-after": "7" }));
      assert.deepEqual((await post()).verdict, {
        kind: "later",
        error: "http 429",
        retryAfterMs: 7_000,
      });
    });
  });
}

test("Discord takes a message of a box that is called by one word, or has a long address", async () => {
  const { behaviour, faults } = roomServer(discordFake);
  receiver.always(behaviour);
  const hosts = ["box:8080", "localhost:8080", "[fd00::1]:8080", "192.168.1.5:8080"];
  const links = hosts.map((host) => `http://${host}/a/7`);
  for (const link of [...links, `https://box.example/${"x".repeat(1_700)}`]) {
    const { verdict } = await rooms.discord.send({
      egress,
      now: 0,
      credentials: { webhook_url: receiver.url + discordFake.path },
      event: eventBody(),
      words: inWords(eventBody(), link),
    });
    assert.equal(verdict.kind, "delivered", `${link}: ${faults.join()}`);
    const [embed] = JSON.parse(receiver.received.at(-1)?.body ?? "").embeds;
    assert.ok(embed.description.endsWith(`[Open](${link})`));
  }
});

test("Discord's own word on how long to wait is finer than the header's", async () => {
  const body = { message: "You are being rate limited.", retry_after: 0.65, global: false };
  receiver.once(answer(429, body, { "retry-after": "1" }));
  const { verdict } = await rooms.discord.send({
    egress,
    now: 0,
    credentials: { webhook_url: receiver.url + discordFake.path },
    event: eventBody(),
    words: inWords(eventBody()),
  });
  assert.deepEqual(verdict, {
    kind: "later",
    error: "http 429: You are being rate limited.",
    retryAfterMs: 650,
  });
});

test("addresses in plain text are whole or aren't there: half of one leads elsewhere", () => {
  const long = (length: number) => `https://wiki.example/${"x".repeat(length)}`;
  const event = eventBody({
    last_message: "it is down ".repeat(70),
    identifiers: Object.fromEntries(["a", "b", "c", "d", "e", "f"].map((k) => [k, k.repeat(120)])),
  });
  for (const runbook of [long(60), long(1_900)]) {
    const links = [{ text: "Graph", href: long(900) }];
    const words = inFull(event, { link: LINK, said: { runbook, links } });
    for (const text of [
      telegramText(words),
      signalText(words),
      (matrixMessage(event, words) as { body: string }).body,
    ]) {
      const found = text.match(/https:\S+/g) ?? [];
      assert.equal(found[0], LINK);
      assert.deepEqual(
        found.filter((one) => ![LINK, runbook, ...links.map(({ href }) => href)].includes(one)),
        [],
      );
    }
  }
});

test("a storm of many rules says how to acknowledge it in every room, however long its lines", () => {
  const counts = { total: 30, acknowledged: 0, resolved: 0 };
  const tens = Array.from({ length: 10 }, (_, i) => i);
  const together = {
    total: 300,
    more: { rules: 0, alerts: 0 },
    first: "it is down",
    projects: { first: ["shop"], total: 1 },
    rules: tens.map((i) => ({ rule: `${i} ${"r".repeat(60)}`, ...counts })),
    worst: tens.map((id) => ({
      id,
      rule: `${id} ${"r".repeat(60)}`,
      level: 500,
      state: "open",
      message: "m".repeat(300),
    })),
  };
  const event = eventBody({ alert_id: "" });
  const words = inFull(event, { said: { together } });
  const messages = [
    ...Object.values(rooms).map(({ message }) => message(event, words)),
    slackMessage(words),
    telegramText(words),
    matrixMessage(event, words),
  ];
  for (const message of messages)
    assert.match(JSON.stringify(message).replaceAll("\\", ""), /box ack --all --project shop/);
});
