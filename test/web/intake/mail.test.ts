import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import { boxConfig } from "../../../src/app/config.ts";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import { ServiceError } from "../../../src/ground/kit/errors.ts";
import { keyOfAddress } from "../../../src/web/intake/mail.ts";
import { createMailReader } from "../../../src/web/intake/mail-taker.ts";
import { cronMail, htmlMail, mdadmMail } from "../../in/adapters/mails.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { long, test } from "../../support/long.ts";
import { watchTurns } from "../../support/turns.ts";
import { until } from "../../support/until.ts";
import { handOver, smtpTalk } from "./smtp-client.ts";

const fixtures = join(import.meta.dirname, "../../fixtures");

async function mailSource(box: TestBox, name = "mail", options = {}) {
  await box.api("POST", "/v1/projects", { name: "p" });
  await box.api("POST", "/v1/projects/p/rules", { name: "all" });
  const source = { name, kind: "email", retain_logs: true, options };
  const made = await box.api("POST", "/v1/projects/p/sources", source);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return { key: String(made.body.short_token), token: String(made.body.token) };
}

const at = (box: TestBox, i = 0) => {
  const { host, port } = box.ports[i] ?? { host: "", port: 0 };
  return { host, port };
};

/** One mail on a connection of its own; the last answer. */
async function send(box: TestBox, mail: Parameters<typeof handOver>[1], i = 0) {
  const talk = await smtpTalk(at(box, i));
  const said = await handOver(talk, mail);
  talk.end();
  return said;
}

async function alerts(box: TestBox) {
  // biome-ignore lint/suspicious/noExplicitAny: as the interface answers
  return (await box.api("GET", "/v1/alerts")).body.alerts as any[];
}

async function counted(box: TestBox, outcome: string) {
  const text = String((await box.api("GET", "/metrics")).body);
  return Number(new RegExp(`port="smtp",outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1]);
}

describe("mail", () => {
  let box: TestBox;
  let key = "";
  let token = "";
  before(async () => {
    box = await testBox({ smtp: ["127.0.0.1:0", "127.0.0.1:0=p/mail"] });
    ({ key, token } = await mailSource(box));
  });
  after(() => box.stop());

  test("250 comes after the commit; the key may stand behind a plus or alone, in any case, as a UUID too", async () => {
    const uuid = key.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    const ways = [`box+${key}@box`, `${key.toUpperCase()}@any.example`, `a+b+${uuid}@[127.0.0.1]`];
    for (const [i, to] of ways.entries()) {
      const data = cronMail(to).replace("Message-Id: <2026", `Message-Id: <${i}`);
      assert.match(await send(box, { to, data }), /^250 2\.6\.0 /);
      const [alert] = await alerts(box);
      assert.equal(alert.count, i + 1);
      assert.equal(alert.last_message, "Cron <root@web-01> /usr/local/bin/backup");
    }
    assert.equal(await counted(box, "taken"), 3);
  });

  test("the same Message-ID isn't counted again; without one each mail counts", async () => {
    for (const [data, more] of [
      [cronMail().replace("<2026", "<again-2026"), 1],
      [mdadmMail(), 2],
    ] as const) {
      const before = box.tenant.ingest.stats().accepted;
      for (let i = 0; i < 2; i++) assert.match(await send(box, { to: `${key}@box`, data }), /^250/);
      assert.equal(box.tenant.ingest.stats().accepted - before, more);
    }
  });

  test("no relay: who has no key, a wrong one or one of another kind is told so", async () => {
    const other = await box.api("POST", "/v1/projects/p/sources", { name: "g", kind: "gelf" });
    for (const to of [
      "someone@example.com",
      `box+${"0".repeat(32)}@box`,
      "postmaster",
      `${other.body.short_token}@box`,
    ])
      assert.match(await send(box, { to, data: cronMail() }), /^550 5\.1\.1 /, to);
  });

  test("a login with the key, for devices that insist; then the recipient may be anything", async () => {
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    for (const secret of [key, token]) {
      const talk = await smtpTalk(at(box));
      assert.match(await talk.say("EHLO me"), /AUTH PLAIN LOGIN/);
      assert.match(await talk.say(`AUTH PLAIN ${base64("\0anyone\0nothing")}`), /^535 5\.7\.8 /);
      assert.match(await talk.say(`AUTH PLAIN ${base64(`\0anyone\0${secret}`)}`), /^235/);
      const mail = { to: "root@nas-02", data: htmlMail().replace("<1795", `<${secret.length}`) };
      assert.match(await handOver(talk, mail), /^250/);
      talk.end();
    }
    const talk = await smtpTalk(at(box));
    await talk.say("EHLO me");
    await talk.say("AUTH LOGIN");
    await talk.say(base64("device"));
    assert.match(await talk.say(base64(key)), /^235/);
    talk.end();
    const found = (await alerts(box)).find((one) => one.last_message.includes("HostDown"));
    assert.deepEqual([found.count, found.level], [2, 400]);
  });

  test("a port that is bound to a source takes what names none", async () => {
    const before = await counted(box, "taken");
    assert.match(await send(box, { to: "root@nas-02", data: mdadmMail() }, 1), /^250/);
    assert.equal(await counted(box, "taken"), before + 1);
  });

  test("the end of what its subject names ends the alert, in its source's room", async () => {
    const head = (subject: string) => `From: n@example.com\r\nSubject: ${subject}\r\n\r\nx`;
    const state = async () =>
      (await alerts(box)).find((one) => one.last_message.includes("web/HTTP"))?.state;
    const to = `${key}@box`;
    await send(box, { to, data: head("** PROBLEM Service Alert: web/HTTP is CRITICAL **") });
    assert.equal(await state(), "open");
    const other = await mailSource(box, "other");
    const end = head("** RECOVERY Service Alert: web/HTTP is OK **");
    await send(box, { to: `${other.key}@box`, data: end });
    assert.equal(await state(), "open");
    await send(box, { to, data: end });
    assert.equal(await state(), "resolved");
  });

  test("several recipients: each source once; one that is unknown costs the others nothing", async () => {
    const { key: second } = await mailSource(box, "second");
    const before = box.tenant.ingest.stats().accepted;
    const talk = await smtpTalk(at(box));
    await talk.say("EHLO me");
    await talk.say("MAIL FROM:<a@b>");
    for (const one of [`a+${key}@x`, `b+${key}@x`, `${second}@x`])
      assert.match(await talk.say(`RCPT TO:<${one}>`), /^250/);
    assert.match(await talk.say("RCPT TO:<nobody@x>"), /^550/);
    await talk.say("DATA");
    assert.match(await talk.say("Subject: for two\r\n\r\nx\r\n."), /^250/);
    talk.end();
    assert.equal(box.tenant.ingest.stats().accepted - before, 2);
  });

  test("more than ten recipients: the eleventh is to come with another mail", async () => {
    const talk = await smtpTalk(at(box));
    await talk.say("EHLO me");
    await talk.say("MAIL FROM:<a@b>");
    for (let i = 0; i < 10; i++) assert.match(await talk.say(`RCPT TO:<${i}+${key}@x>`), /^250/);
    assert.match(await talk.say(`RCPT TO:<10+${key}@x>`), /^452 4\.5\.3 /);
    talk.end();
  });

  test("bounces and automatic replies are taken without an event, and shown to who looks", async () => {
    const before = box.tenant.ingest.stats().accepted;
    const { id } = box.tenant.ingest.authenticate(key) ?? { id: 0 };
    const refused = () => box.tenant.ingest.refused.of(id);
    const reply = "Subject: away\r\nAuto-Submitted: auto-replied\r\n\r\nx";
    assert.match(
      await send(box, { to: `${key}@x`, from: "", data: "Subject: no\r\n\r\nx" }),
      /^250/,
    );
    assert.match(await send(box, { to: `${key}@x`, data: reply }), /^250/);
    assert.equal(box.tenant.ingest.stats().accepted, before);
    const { counts, last } = refused();
    assert.deepEqual([counts["invalid_request"], last?.message], [2, "an automatic reply"]);
  });

  test("the key is nowhere in what is kept", async () => {
    const subject = `for box+${key}@box`;
    const data = `To: box+${key.toUpperCase()}@box\r\nSubject: ${subject}\r\n\r\n${key}`;
    await send(box, { to: `${key}@box`, data });
    const [alert] = await alerts(box);
    assert.equal(alert.last_message, "for box+***@box");
    const lines = (await box.api("GET", "/v1/projects/p/logtail")).body;
    const all = JSON.stringify([await alerts(box), lines, (await box.api("GET", "/metrics")).body]);
    assert.ok(!all.toLowerCase().includes(key));
  });

  long("too much at once is 451 4.3.1, and the same mail is taken later", async (t) => {
    const { ingest } = box.tenant;
    const real = ingest.submit;
    let isFull = true;
    t.mock.method(ingest, "submit", (...given: Parameters<typeof real>) => {
      if (isFull) throw new ServiceError("storage_full", "full", { retryAfter: 5 });
      real(...given);
    });
    const mail = { to: `${key}@box`, data: cronMail().replace("<2026", "<full") };
    assert.match(await send(box, mail), /^451 4\.3\.1 /);
    isFull = false;
    const before = ingest.stats().accepted;
    assert.match(await send(box, mail), /^250/);
    assert.equal(ingest.stats().accepted, before + 1);
    assert.equal(await counted(box, "overloaded"), 1);
  });

  long("a mail over a mebibyte is 552 5.3.4, told before it comes or after", async () => {
    const talk = await smtpTalk(at(box));
    assert.match(await talk.say("EHLO me"), /SIZE 1048576/);
    assert.match(await talk.say("MAIL FROM:<a@b> SIZE=2000000"), /^552 5\.3\.4 /);
    const data = `Subject: big\r\n\r\n${`${"x".repeat(998)}\r\n`.repeat(1100)}`;
    assert.match(await handOver(talk, { to: `${key}@x`, data }), /^552 5\.3\.4 /);
    const small = { to: `${key}@x`, data: "Subject: small\r\n\r\nx" };
    assert.match(await handOver(talk, small), /^250/);
    talk.end();
  });

  test("half a mail is none", async () => {
    const before = box.tenant.ingest.stats().accepted;
    const talk = await smtpTalk(at(box));
    for (const line of ["EHLO me", "MAIL FROM:<a@b>", `RCPT TO:<${key}@x>`, "DATA"])
      await talk.say(line);
    talk.write("Subject: half\r\n\r\nno en");
    await until(() => talk.socket.bytesWritten > 60, "it is sent");
    talk.socket.destroySoon();
    await talk.closed;
    await send(box, { to: `${key}@x`, data: "Subject: whole\r\n\r\nx" });
    assert.equal(box.tenant.ingest.stats().accepted, before + 1);
  });

  test("everything in one piece, as pipelining clients send it", async () => {
    const talk = await smtpTalk(at(box));
    await talk.say("EHLO me");
    const mail = (n: number) =>
      `MAIL FROM:<a@b>\r\nRCPT TO:<${key}@x>\r\nDATA\r\nSubject: piped ${n}\r\n\r\n..x\r\n.\r\n`;
    const before = box.tenant.ingest.stats().accepted;
    talk.write(`${mail(1)}${mail(2)}QUIT\r\n`);
    await talk.closed;
    assert.equal(talk.heard.match(/^250 2\.6\.0/gm)?.length, 2);
    assert.match(talk.heard, /221 [^\n]*\n$/);
    assert.equal(box.tenant.ingest.stats().accepted - before, 2);
  });

  test("a header can't be smuggled in: a subject is one line, an address with a line break is none", async () => {
    const talk = await smtpTalk(at(box));
    await talk.say("EHLO me");
    assert.match(await talk.say("MAIL FROM:<a\rRCPT TO:x@b>"), /^501/);
    const subject = Buffer.from("one\r\nX-Priority: 1\r\n\r\ntwo").toString("base64");
    await handOver(talk, { to: `${key}@x`, data: `Subject: =?utf-8?B?${subject}?=\r\n\r\nx` });
    talk.end();
    const [alert] = await alerts(box);
    assert.equal(alert.last_message, "one X-Priority: 1 two");
    assert.equal(alert.level, 300);
  });

  test("NUL and bytes of no script are kept readable", async () => {
    const data = "Subject: a\0b\xff\r\n\r\nx\0\r\n";
    assert.match(await send(box, { to: `${key}@x`, data }), /^250/);
    assert.match((await alerts(box))[0].last_message, /^a.b/);
  });

  test("a source that is gone when its mail has come is told as unknown", async () => {
    const { key: gone } = await mailSource(box, "gone");
    const talk = await smtpTalk(at(box));
    for (const line of ["EHLO me", "MAIL FROM:<a@b>", `RCPT TO:<${gone}@x>`, "DATA"])
      await talk.say(line);
    await box.api("DELETE", "/v1/projects/p/sources/gone");
    assert.match(await talk.say("Subject: late\r\n\r\nx\r\n."), /^550 5\.1\.1/);
    talk.end();
  });

  long(
    "who comes to nothing is let go: a stranger after a minute, a mail that doesn't end after five",
    async () => {
      const stranger = await smtpTalk(at(box));
      await stranger.say("EHLO me");
      const slow = await smtpTalk(at(box));
      for (const line of ["EHLO me", "MAIL FROM:<a@b>", `RCPT TO:<${key}@x>`, "DATA"])
        await slow.say(line);
      await box.clock.turn(60_000);
      await stranger.closed;
      assert.equal(slow.socket.destroyed, false);
      slow.write("S");
      await box.clock.turn(240_000);
      await slow.closed;
    },
  );
});

test("a key in an address", () => {
  const key = "0123456789abcdef0123456789ABCDEF";
  assert.equal(keyOfAddress(`a+${key}@b`), key.toLowerCase());
  for (const none of ["", "@", key, `a-${key}@b`, `${key}0@b`, `${key}+a@b`, "a+@b", "+@"])
    assert.equal(keyOfAddress(none), null, none);
});

long(
  "a hundred connections are served at once, fifty of one address, the next is told to come later",
  async () => {
    const box = await testBox({ smtp: ["127.0.0.1:0"] });
    try {
      const { key } = await mailSource(box);
      const from = (localAddress: string) => smtpTalk({ ...at(box), localAddress });
      const of = (address: string) => Promise.all(Array.from({ length: 50 }, () => from(address)));
      const first = await of("127.0.0.1");
      const crowded = await from("127.0.0.1");
      await crowded.closed;
      assert.match(crowded.heard, /^421 4\.7\.0 /);
      const talks = [...first, ...(await of("127.0.0.2"))];
      const late = await from("127.0.0.3");
      await late.closed;
      assert.match(late.heard, /^421 /);
      const mail = (i: number) => ({ to: `${key}@x`, data: `Subject: mail ${i}\r\n\r\nx` });
      const said = await Promise.all(talks.map((talk, i) => handOver(talk, mail(i))));
      assert.ok(said.every((one) => one.startsWith("250")));
      assert.equal(box.tenant.ingest.stats().accepted, 100);
      for (const talk of talks) talk.end();
    } finally {
      await box.stop();
    }
  },
);

test("who guesses keys is sent away for a while", async () => {
  const box = await testBox({ smtp: ["127.0.0.1:0"] });
  try {
    const { key } = await mailSource(box);
    const talk = await smtpTalk(at(box));
    await talk.say("EHLO me");
    await talk.say("MAIL FROM:<a@b>");
    const guess = (n: number) => `RCPT TO:<${n.toString(16).padStart(32, "0")}@x>`;
    for (let n = 1; n <= 10; n++) assert.match(await talk.say(guess(n)), /^550/);
    assert.match(await talk.say(guess(11)), /^421 4\.7\.0 /);
    await talk.closed;
    assert.match(await send(box, { to: `${key}@x`, data: "Subject: a\r\n\r\nx" }), /^250/);
  } finally {
    await box.stop();
  }
});

test("a bound port that other machines reach says who may send", () => {
  const fault = (smtp: string, more = {}) => {
    try {
      return String(boxConfig({ data: "x", smtp: [smtp], ...more }).intake.ports.length);
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.equal(fault("0.0.0.0:2525"), "1");
  assert.match(fault("0.0.0.0:2525=p/mail"), /--smtp 0\.0\.0\.0:2525 .*--allow-from/);
  assert.equal(fault("0.0.0.0:2525=p/mail", { allowFrom: ["10.0.0.0/8"] }), "1");
  assert.match(fault("2525"), /--smtp must be HOST:PORT/);
});

long("STARTTLS by the box's certificate; without one it isn't offered", async () => {
  const tls = {
    tlsCert: join(fixtures, "localhost.crt"),
    tlsKey: join(fixtures, "localhost.key"),
  };
  for (const files of [tls, {}]) {
    const box = await testBox({ smtp: ["127.0.0.1:0"], ...files });
    try {
      const talk = await smtpTalk(at(box));
      const offers = (await talk.say("EHLO me")).includes("STARTTLS");
      assert.equal(offers, "tlsCert" in files);
      assert.match(await talk.say("STARTTLS"), offers ? /^220/ : /^500/);
      talk.end();
    } finally {
      await box.stop();
    }
  }
});

/** Mails that cost whoever reads them all that they can, in less than a mebibyte. */
const BOMBS: Readonly<Record<string, string>> = {
  "a line of a mebibyte": `\r\n${"x".repeat(1_000_000)}`,
  "empty lines": `\r\n${"\r\n".repeat(500_000)}`,
  base64: `Content-Transfer-Encoding: base64\r\n\r\n${`${"A".repeat(76)}\r\n`.repeat(13_000)}`,
  "ten thousand parts": `Content-Type: multipart/mixed; boundary=b\r\n\r\n${"--b\r\n\r\nx\r\n".repeat(10_000)}--b--`,
  "parts in parts": Array.from(
    { length: 5000 },
    (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`,
  ).join(""),
  "mails in mails": `${"Content-Type: message/rfc822\r\n\r\nSubject: x\r\n".repeat(8)}\r\n${"x\r\n".repeat(250_000)}`,
  "encoded words": `X: ${"=?utf-8?B?QUJD?= ".repeat(50_000)}\r\n\r\nx`,
  "a long To": `To: ${"(".repeat(900_000)}\r\n\r\nx`,
  "many headers": `${"X: y\r\n".repeat(120_000)}\r\nx`,
  html: `Content-Type: text/html\r\n\r\n${"<a>&amp;".repeat(120_000)}`,
};

long("a mail that is made to cost is taken, and nothing else waits for it", async (t) => {
  const box = await testBox({ smtp: ["127.0.0.1:0"] });
  try {
    const { key } = await mailSource(box);
    await send(box, { to: `${key}@x`, data: "Subject: first\r\n\r\nx" });
    for (const [name, rest] of Object.entries(BOMBS)) {
      const data = `Subject: bomb of ${name}\r\n${rest}`;
      const talk = await smtpTalk(at(box));
      for (const line of ["EHLO me", "MAIL FROM:<a@b>", `RCPT TO:<${key}@x>`, "DATA"])
        await talk.say(line);
      const bytes = Buffer.from(`${data}\r\n.\r\n`);
      const turns = watchTurns();
      talk.write(bytes);
      assert.match(await talk.answer(), /^250/, name);
      const { longest } = turns;
      turns.stop();
      t.diagnostic(`${name}: at most ${Math.round(longest)} ms`);
      assert.ok(longest < 50, `${name}: ${longest} ms`);
      talk.end();
      assert.equal((await alerts(box))[0].last_message, `bomb of ${name}`);
    }
  } finally {
    await box.stop();
  }
});

// With the lowest priority its thread got nothing within its deadline, and of each mail only the head was read.
long("a mail is read whole where other programs keep all cores busy", async (t) => {
  const reader = createMailReader(systemClock);
  t.after(() => reader.close());
  const others = Array.from({ length: 2 * availableParallelism() }, () =>
    spawn("sh", ["-c", "while :; do :; done"], { stdio: "ignore" }),
  );
  t.after(() => others.map((other) => other.kill("SIGKILL")));
  const head = "Subject: payments\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n";
  const rows = "<p>payment <b>4711</b> failed</p>\r\n".repeat(3000);
  const { text } = await reader.read(Buffer.from(head + rows));
  assert.match(text, /^payment 4711 failed/);
});
