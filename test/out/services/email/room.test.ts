import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import { systemClock } from "../../../../src/ground/kit/clock.ts";
import { createEgress, type EgressClient } from "../../../../src/ground/kit/egress.ts";
import { createNames } from "../../../../src/ground/kit/names.ts";
import { eventKinds } from "../../../../src/out/outbox/event.ts";
import type { MailGateway } from "../../../../src/out/services/email/api.ts";
import { mailOf, sendEmail } from "../../../../src/out/services/email/room.ts";
import { eventBody, inWords } from "../../../support/events.ts";
import {
  headersOf,
  MAIL_PASSWORD,
  MAIL_USER,
  type MailServer,
  startMailServer,
} from "../../../support/mail.ts";
import fc from "../../../support/property.ts";
import { pem, startSocketServer } from "../../../support/receiver.ts";
import { hostileTexts } from "../../../support/rooms.ts";

const clients: EgressClient[] = [];
after(() => Promise.all(clients.map((client) => client.close())));

function client(addresses: Record<string, string> = {}, ca = [pem("authority")]): EgressClient {
  const resolve = async (host: string) => [{ address: addresses[host] ?? "127.0.0.1", family: 4 }];
  const names = createNames({ clock: systemClock, resolve });
  const made = createEgress({ clock: systemClock, rules: { role: "box" }, names, ca });
  clients.push(made);
  return made;
}
const egress = client();

const servers: MailServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));
async function start(...options: Parameters<typeof startMailServer>): Promise<MailServer> {
  const server = await startMailServer(...options);
  servers.push(server);
  return server;
}

const NOW = Date.UTC(2026, 0, 5, 3, 12, 2);
const from = "box@shop.example";
const to = "ann@example.org";
const send = (
  port: number,
  more: Partial<MailGateway & { to: string }> = {},
  via: { egress: EgressClient } = { egress },
) =>
  sendEmail({
    ...via,
    now: NOW,
    credentials: { host: "localhost", port: String(port), from, to, ...more },
    event: eventBody(),
    words: inWords(eventBody()),
  });

test("the mail: an alert's mails hang together, no answer is wanted, text and a page", async () => {
  const link = "https://box.example/a/7?x=1&y=2";
  const event = eventBody({ level: 500 });
  const raw = (await mailOf({ from, to, event, words: inWords(event, link), now: NOW })).toString();
  const [, boundary = ""] = /boundary="([^"]+)"/.exec(raw) ?? [];
  assert.equal(
    raw.replaceAll(boundary, "B").replaceAll("\r\n", "\n").split("<!DOCTYPE")[0],
    GOLDEN,
  );
});

test("whatever was logged and however things are called: the header fields are ours", async () => {
  const expected = [
    "Auto-Submitted",
    "X-Auto-Response-Suppress",
    "List-ID",
    "Importance",
    "From",
    "To",
    "In-Reply-To",
    "References",
    "Subject",
    "Message-ID",
    "Date",
    "MIME-Version",
    "Content-Type",
  ];
  const wild = fc
    .tuple(
      fc.constantFrom("\r\nBcc: a@b.test", "\n\n", "\u2028To: x", "=?utf-8?q?=0ABcc?=", "💥"),
      fc.string(),
    )
    .map(([start, rest]) => start + rest + start);
  const texts = fc.oneof(wild, fc.constantFrom(...hostileTexts));
  const property = fc.asyncProperty(texts, fc.constantFrom(...eventKinds), async (text, event) => {
    const names = { project: text.slice(0, 128), rule: text.slice(0, 128) };
    const changes = { last_message: text, identifiers: { [text.slice(0, 99)]: text }, ...names };
    const made = eventBody({ event, level: 500, ...changes });
    const raw = (
      await mailOf({ from, to, event: made, words: inWords(made), now: NOW })
    ).toString();
    const fields = headersOf(raw);
    const isOver = event === "alert.acknowledged" || event === "alert.resolved";
    const present = expected.filter((name) => name !== "Importance" || !isOver);
    assert.deepEqual(
      fields.map(([name]) => name),
      present,
    );
    const subject = fields.find(([name]) => name === "Subject")?.[1] ?? "";
    assert.ok([...subject].length <= 200 && subject.isWellFormed() && !/[\r\n]/.test(subject));
    const [head = ""] = raw.split("\r\n\r\n");
    assert.doesNotMatch(head.replaceAll("\r\n", ""), /[\r\n]/);
    for (const line of raw.split(/\r?\n/)) assert.ok(Buffer.byteLength(line) <= 998);
  });
  await fc.assert(property, { numRuns: 60 });
});

test("a mailbox with letters in its domain is written as mail servers know it", async () => {
  const server = await start({ onlyAscii: true });
  const umlauts = { from: "box@büro.example", to: "ann@bücher.example" };
  assert.equal((await send(server.port, umlauts)).verdict.kind, "delivered");
  const [mail] = server.taken;
  assert.equal(mail?.helo, "xn--bro-hoa.example");
  const [head = ""] = (mail?.raw ?? "").split("\r\n\r\n");
  assert.match(head, /^[\x20-\x7e\r\n]*$/);
  assert.match(head, /^To: ann@xn--bcher-kva\.example$/m);
});

test("TLS is used, and a server that doesn't offer it gets neither mail nor password", async () => {
  const [offers, doesNot] = [await start(), await start({ starttls: false, login: true })];
  assert.deepEqual(await send(offers.port), { verdict: { kind: "delivered", status: 250 } });
  const [mail] = offers.taken;
  assert.deepEqual(
    [mail?.secure, mail?.from, mail?.to, mail?.helo],
    [true, from, [to], "shop.example"],
  );
  assert.match(mail?.raw ?? "", /Payment 42 failed for bob/);
  const login = { user: MAIL_USER, password: MAIL_PASSWORD };
  const { verdict } = await send(doesNot.port, login);
  assert.equal(verdict.kind, "later");
  assert.match("error" in verdict ? verdict.error : "", /^smtp 5\d\d .*STARTTLS$/);
  assert.deepEqual([doesNot.taken.length, doesNot.logins.length], [0, 0]);
});

test("TLS from the start, and none where the operator says so", async () => {
  const [implicit, plain] = [await start({ implicit: true }), await start({ starttls: false })];
  assert.equal((await send(implicit.port, { tls: "implicit" })).verdict.kind, "delivered");
  assert.equal(implicit.taken[0]?.secure, true);
  assert.equal((await send(plain.port, { tls: "none" })).verdict.kind, "delivered");
  assert.equal(plain.taken[0]?.secure, false);
});

test("a login, right and wrong; no word of the server gets into the error", async () => {
  const server = await start({ login: true });
  const login = { user: MAIL_USER, password: MAIL_PASSWORD };
  assert.equal((await send(server.port, login)).verdict.kind, "delivered");
  assert.equal(server.taken[0]?.user, MAIL_USER);
  assert.deepEqual(await send(server.port, { ...login, password: "canary" }), {
    verdict: { kind: "later", error: "smtp 535 after AUTH PLAIN" },
  });
  assert.equal(server.taken.length, 1);
});

test("certificates are held to the name; what isn't trusted gets nothing", async () => {
  const server = await start();
  const unknowing = { egress: client({}, []) };
  assert.deepEqual(await send(server.port, {}, unknowing), {
    verdict: { kind: "later", error: "tls: untrusted" },
  });
  assert.deepEqual(await send(server.port, { host: "mail.other.test" }), {
    verdict: { kind: "later", error: "tls: wrong_name" },
  });
  assert.equal(server.taken.length, 0);
});

test("names are resolved by the box alone, and an address that may not be called never is", async () => {
  const server = await start({ starttls: false });
  const via = { egress: client({ "mail.box.test": "127.0.0.1", "evil.test": "169.254.169.254" }) };
  // A name that no resolver but the client's own knows.
  const known = await send(server.port, { host: "mail.box.test", tls: "none" }, via);
  assert.equal(known.verdict.kind, "delivered");
  for (const host of ["evil.test", "169.254.169.254", "::ffff:169.254.169.254", "0.0.0.0"])
    assert.deepEqual(await send(server.port, { host, tls: "none" }, via), {
      verdict: { kind: "later", error: "address_refused" },
    });
  assert.equal(server.taken.length, 1);
});

test("every refusal is tried again, told by the server's number and where it came", async () => {
  const server = await start();
  for (const code of [450, 452, 550, 552]) {
    server.refuse({ code, text: `5.1.1 no canary here ${to}` });
    const { verdict } = await send(server.port);
    const error = `smtp ${code} 5.1.1 after RCPT TO`;
    assert.deepEqual(verdict, { kind: "later", error });
  }
});

test("what is no mail server is told by what it did", async () => {
  const shut = await startSocketServer((socket) => socket.end());
  const web = await startSocketServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  const gone = await startSocketServer(() => {});
  await gone.close();
  const errors: unknown[] = [];
  for (const { port } of [shut, web, gone]) {
    const { verdict } = await send(port);
    errors.push("error" in verdict && verdict.error);
  }
  assert.deepEqual(errors, ["closed", "bad_response", "refused"]);
  await Promise.all([shut.close(), web.close()]);
});

const GOLDEN = `Auto-Submitted: auto-generated
X-Auto-Response-Suppress: All
List-ID: <0123456789abcdef.box.localhost>
Importance: high
From: box <box@shop.example>
To: ann@example.org
In-Reply-To: <alert-7.0123456789abcdef@shop.example>
References: <alert-7.0123456789abcdef@shop.example>
Subject: [Critical] shop: Payment 42 failed for bob
Message-ID: <evt_0123456789abcdef0123456789abcdef@shop.example>
Date: Mon, 05 Jan 2026 03:12:02 +0000
MIME-Version: 1.0
Content-Type: multipart/alternative;
 boundary="B"

--B
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

host =3D web-1

critical =C2=B7 rule Payments failing =C2=B7 12 events =
=C2=B7 2026-01-05 03:00 to 03:12 UTC =C2=B7 alert 7

https://box.example/a/7?x=3D1&y=3D2
--B
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

`;
