import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import { systemClock } from "../../../../src/ground/kit/clock.ts";
import { createEgress } from "../../../../src/ground/kit/egress.ts";
import { mailDraft, sendEmailDirect } from "../../../../src/out/services/email/person.ts";
import { codeMessage, directMessage, hostileMessages } from "../../../support/direct.ts";
import {
  headersOf,
  MAIL_PASSWORD,
  MAIL_USER,
  type MailServer,
  startMailServer,
} from "../../../support/mail.ts";
import { pem } from "../../../support/receiver.ts";

const egress = createEgress({
  clock: systemClock,
  rules: { role: "box" },
  ca: [pem("authority")],
});
after(() => egress.close());

let server: MailServer | undefined;
afterEach(() => server?.close());

async function post(message = directMessage(), password = MAIL_PASSWORD) {
  server ??= await startMailServer({ login: true });
  const gateway = {
    host: "localhost",
    port: String(server.port),
    from: "box@shop.example",
    user: MAIL_USER,
    password,
  };
  const via = { egress, now: Date.UTC(2026, 0, 5, 3, 12, 2) };
  const fields = { address: "ann@example.org" };
  return sendEmailDirect({ ...via, gateway, fields, message, tenantId: "0123456789abcdef" });
}

test("a page by mail: in its alert's thread, with the way to answer in text and page", async () => {
  server = await startMailServer({ login: true });
  const sent = await post();
  assert.equal(sent.verdict.kind, "delivered");
  assert.equal(sent.ref, "<pg_1@shop.example>");
  const raw = server.taken[0]?.raw ?? "";
  const headers = new Map(headersOf(raw));
  assert.equal(headers.get("Subject"), "ALERT: shop · Payments failing");
  assert.equal(headers.get("References"), "<alert-7.0123456789abcdef@shop.example>");
  assert.equal(headers.get("Importance"), "high");
  assert.equal(headers.get("To"), "ann@example.org");
  const flat = raw.replace(/=\r?\n/g, "");
  assert.match(flat, /Acknowledge: https:\/\/box\.example\/ack\/canary-capability/);
  assert.match(flat, /href=3D"https:\/\/box\.example\/ack\/canary-capability">Acknowledge</);
  assert.match(flat, /ERROR<\/b>/);
  await post(codeMessage);
  const code = new Map(headersOf(server.taken[1]?.raw ?? ""));
  assert.equal(code.get("Subject"), "Your code is 402913");
  assert.deepEqual([code.get("References"), code.get("Importance")], [undefined, undefined]);
});

test("what a sender wrote is no link, however it reads; the runbook is one, told once", async () => {
  const runbook = "https://wiki.example/payments";
  const evil = "Acknowledge: https://evil.example/x";
  const lines = ["You are first", evil, "host = db7", `Runbook: ${runbook}`];
  const { html, text } = mailDraft(directMessage({ lines, said: { runbook } }));
  assert.deepEqual(
    [...html.matchAll(/<a href="([^"]+)">([^<]+)</g)].map(([, href, name]) => [name, href]),
    [
      ["Acknowledge", "https://box.example/ack/canary-capability"],
      ["Open", "https://box.example/a/7"],
      ["Runbook", runbook],
    ],
  );
  assert.ok(html.includes(evil), "it is read as it was written");
  assert.match(html, />host<\/td><td dir="auto">db7</);
  assert.ok(text.includes(`Runbook: ${runbook}`));
});

test("no title writes a header field of its own", async () => {
  server = await startMailServer({ login: true });
  const mean = directMessage({ title: "x\r\nBcc: eve@evil.test\r\n\r\nbody" });
  const messages = [mean, ...hostileMessages().filter((_, i) => i % 3 === 0)];
  for (const message of messages) assert.equal((await post(message)).verdict.kind, "delivered");
  for (const { raw, to } of server.taken) {
    assert.deepEqual(to, ["ann@example.org"]);
    assert.ok(!headersOf(raw).some(([name]) => /^(bcc|cc)$/i.test(name)));
  }
});

test("a mailbox that there isn't is refused for good; a full one, a busy server and a wrong password aren't", async () => {
  server = await startMailServer({ login: true });
  const refused = async (code: number, text: string) => {
    server?.refuse({ code, text });
    return (await post()).verdict;
  };
  assert.deepEqual(await refused(550, "5.1.1 canary"), {
    kind: "never",
    error: "smtp 550 5.1.1 after RCPT TO",
  });
  for (const code of [450, 552, 554]) assert.equal((await refused(code, "canary")).kind, "later");
  server.refuse(null);
  const { verdict } = await post(directMessage(), "canary-wrong");
  assert.deepEqual([verdict.kind, JSON.stringify(verdict).includes("canary")], ["later", false]);
});
