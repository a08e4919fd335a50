import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, describe, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { deflateSync, gzipSync } from "node:zlib";
import { seed } from "../support/seed.ts";
import { seeded } from "../support/seeded.ts";
import { handOver, smtpTalk } from "../web/intake/smtp-client.ts";
import { fillers } from "./bodies.ts";
import { type Struck, struckBox } from "./hour.ts";

/** The ports beside HTTP's, struck with what is made to be dear to them. */

let box: Struck;

/** A box of its own for the tests beside it: what it held at its beginning is what it is measured by. */
function aBoxWith(source: { name: string; kind: string; options?: object }): void {
  before(async () => {
    box = await struckBox();
    assert.ok((await box.api("POST", "/v1/projects/p/sources", source)).token, source.kind);
  });
  after((t) => {
    for (const line of box.worst()) (t as TestContext).diagnostic(line);
    return box.stop();
  });
}

const random = seeded(seed);
const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
/** Two of a table, others with another seed. */
const someOf = <T>(table: Readonly<Record<string, T>>): [string, T][] => {
  const rest = Object.entries(table);
  return Array.from({ length: 2 }, () => rest.splice(Math.floor(random() * rest.length), 1)).flat();
};
const portOf = (name: string) => {
  const found = box.ports.find((one) => one.name === name);
  assert.ok(found !== undefined, name);
  return { host: "127.0.0.1", port: found.port };
};

/** Messages of a port that came to something, be it nothing. */
async function told(name: string): Promise<number> {
  const headers = { authorization: `Bearer ${box.key}` };
  const text = await (await fetch(`${box.url}/metrics`, { headers })).text();
  const found = text.matchAll(/box_port_messages_total\{port="([^"]+)",outcome="\w+"\} (\d+)/g);
  return [...found].reduce((sum, [, port, n]) => sum + (port === name ? Number(n) : 0), 0);
}

async function reached(name: string, messages: number): Promise<void> {
  const end = performance.now() + 30_000;
  while ((await told(name)) < messages) {
    assert.ok(performance.now() < end, `${name}: still not ${messages} messages`);
    await pause(5);
  }
}

/** Sends it all, and waits until it came to so many messages. */
async function stream(name: string, bytes: Buffer, messages: number): Promise<string> {
  const start = await told(name);
  const socket = connect(portOf(name));
  socket.on("error", () => {}).resume();
  const closed = once(socket, "close");
  socket.end(bytes);
  await closed;
  await reached(name, start + messages);
  return `${messages} messages`;
}

/** A few at a time: as many as the system keeps for whoever reads them. */
async function datagrams(name: string, bytes: Buffer, times: number): Promise<string> {
  const { host, port } = portOf(name);
  const socket = createSocket("udp4");
  const start = await told(name);
  const wave = Math.max(1, Math.min(100, Math.floor(80_000 / (bytes.length + 700))));
  for (let sent = 0; sent < times; ) {
    const next = Math.min(times, sent + wave);
    for (; sent < next; sent++)
      await new Promise<void>((done) => socket.send(bytes, port, host, () => done()));
    await reached(name, start + sent);
  }
  socket.close();
  return `${times} datagrams`;
}

const KIB = 1024;
const HEAD = "<11>1 2026-05-01T10:00:00Z web-01 app 7 id ";

/** What a message of syslog can be made of, about so long. */
const syslogs: Readonly<Record<string, (bytes: number) => string>> = {
  "a text": (bytes) => `${HEAD}- ${"a ".repeat(bytes / 2)}`,
  pairs: (bytes) =>
    `${HEAD}- ${Array.from({ length: bytes / 9 }, (_, i) => `k${i % 9999}=v`).join(" ")}`,
  "quotes that don't end": (bytes) => `${HEAD}- ${'a="\\'.repeat(bytes / 4)}`,
  "elements of data": (bytes) => `${HEAD}${'[a@1 b="c"]'.repeat(bytes / 11)} x`,
  "values of data": (bytes) => `${HEAD}[a@1${' b="c"'.repeat(bytes / 6)}] x`,
  "data that doesn't end": (bytes) => `${HEAD}${'[a@1 b="\\"'.repeat(bytes / 10)}`,
  "spaces alone": (bytes) => `<11>${" ".repeat(bytes)}x`,
  colons: (bytes) => `<11>Oct 11 22:14:15 ${"a[1]: ".repeat(bytes / 6)}`,
  JSON: (bytes) => `${HEAD}- ${oneOf(Object.values(fillers))(bytes)}`,
  "an object": (bytes) => `${HEAD}- {"msg":"x","a":${oneOf(Object.values(fillers))(bytes)}}`,
};

describe("syslog", () => {
  aBoxWith({ name: "syslog", kind: "syslog", options: { logfmt: true } });

  for (const line of ["a\n", "a\0", "\n", "1 a", "<11>a\n", "<11>1 - - a - - -\n", "a=1 b={}\n"])
    test(`a chunk's worth of ${JSON.stringify(line)}, many times`, async () => {
      const count = Math.floor((192 * KIB) / line.length);
      const messages = line === "\n" ? 0 : count;
      const strike = () => stream("syslog-tcp", Buffer.from(line.repeat(count)), messages);
      await box.blow({ what: `syslog-tcp ${JSON.stringify(line)}`, strike });
    });

  for (const [what, make] of someOf(syslogs))
    test(what, async () => {
      const bytes = oneOf([200, 4 * KIB, 60 * KIB]);
      const one = Buffer.from(make(bytes).replaceAll("\n", " ")).subarray(0, 60_000);
      const count = Math.ceil((256 * KIB) / one.length);
      const counted = Buffer.concat([Buffer.from(`${one.length} `), one]).toString("latin1");
      const all = Buffer.from(counted.repeat(count), "latin1");
      const name = `${bytes} bytes: ${what} (seed ${seed})`;
      const strike = () => stream("syslog-tcp", all, count);
      await box.blow({ what: `syslog-tcp, ${name}`, strike });
      const send = () => datagrams("syslog-udp", one, Math.min(count, 32));
      await box.blow({ what: `syslog-udp, ${name}`, strike: send });
    });
});

describe("GELF", () => {
  aBoxWith({ name: "gelf", kind: "gelf" });
  const objectOf = (filled: string) => `{"version":"1.1","short_message":"x","_a":${filled}}`;

  for (const [what, filler] of someOf(fillers))
    test(what, async () => {
      const bytes = oneOf([200, 4 * KIB, 800 * KIB]);
      const name = `${bytes} bytes: ${what} (seed ${seed})`;
      const one = objectOf(filler(bytes));
      const count = Math.ceil((800 * KIB) / one.length);
      const strike = () => stream("gelf-tcp", Buffer.from(`${one}\0`.repeat(count)), count);
      await box.blow({ what: `gelf-tcp, ${name}`, strike });
      const small = oneOf([gzipSync, deflateSync])(one);
      if (small.length > 60_000) return;
      const send = () => datagrams("gelf-udp", small, 32);
      await box.blow({ what: `gelf-udp, inflated ${name}`, strike: send });
    });

  for (const one of ["{}\0", "a\0", '{"short_message":"x"}\0'])
    test(`a chunk's worth of ${JSON.stringify(one)}`, async () => {
      const count = Math.floor((192 * KIB) / one.length);
      const strike = () => stream("gelf-tcp", Buffer.from(one.repeat(count)), count);
      await box.blow({ what: `gelf-tcp ${JSON.stringify(one)}`, strike });
    });

  test("a datagram that inflates beyond all measure", async () => {
    const bomb = gzipSync(Buffer.alloc(40 * KIB * KIB));
    await box.blow({ what: "gelf-udp bomb", strike: () => datagrams("gelf-udp", bomb, 32) });
  });

  test("parts of messages that never come to an end", async () => {
    const socket = createSocket("udp4");
    const { host, port } = portOf("gelf-udp");
    const strike = async () => {
      for (let i = 0; i < 3000; i++) {
        const part = Buffer.alloc(1400, 97);
        part.writeUInt16BE(0x1e0f, 0);
        part.writeUInt32BE(i, 4);
        [part[10], part[11]] = [0, 128];
        await new Promise<void>((done) => socket.send(part, port, host, () => done()));
      }
      return datagrams("gelf-udp", Buffer.from('{"short_message":"x"}'), 1);
    };
    await box.blow({ what: "gelf-udp parts", strike });
    socket.close();
  });
});

const MIXED = 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n';
const times = (text: string, bytes: number) => text.repeat(bytes / text.length);

/** Mails of about a megabyte. */
const mails: Readonly<Record<string, (bytes: number) => string>> = {
  parts: (bytes) => `${MIXED}\r\n${times("--b\r\n\r\nx\r\n", bytes)}--b--\r\n`,
  "empty parts": (bytes) => `${MIXED}\r\n${times("--b\r\n", bytes)}`,
  "parts of HTML": (bytes) =>
    `${MIXED}\r\n${times("--b\r\nContent-Type: text/html\r\n\r\n<p>x\r\n", bytes)}`,
  "mails in mails": (bytes) => times("Content-Type: message/rfc822\r\n\r\n", bytes),
  "parts in parts": (bytes) =>
    Array.from(
      { length: bytes / 80 },
      (_, i) => `Content-Type: multipart/mixed; boundary="b${i}"\r\n\r\n--b${i}\r\n`,
    ).join(""),
  headers: (bytes) => `${times("X-A: b\r\n", bytes)}\r\nx`,
  "a long header": (bytes) => `Subject: ${times("=?utf-8?Q?=41?= \r\n ", bytes)}\r\n\r\nx`,
  recipients: (bytes) => `To: ${times("a <a@b.c>,\r\n ", bytes)}\r\n\r\nx`,
  groups: (bytes) => `To: ${times("a:b;(\r\n ", bytes)}\r\n\r\nx`,
  base64: (bytes) =>
    `Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n${times("PGI+\r\n", bytes)}`,
  HTML: (bytes) => `Content-Type: text/html\r\n\r\n${times("<b><!--<a &#65;&amp;\r\n", bytes)}`,
  lines: (bytes) => `Subject: x\r\n\r\n${times("\r\n", bytes)}`,
  keys: (bytes) =>
    `Subject: x\r\n\r\n${times("01234567-0123-0123-0123-0123456789ab0123\r\n", bytes)}`,
};

describe("mail", () => {
  aBoxWith({ name: "mail", kind: "email" });

  for (const [what, make] of someOf(mails))
    test(what, async () => {
      const data = `Subject: x\r\n${make(900_000)}`;
      const strike = async () => {
        const talk = await smtpTalk(portOf("smtp"));
        const said = await handOver(talk, { to: "ops@box", data });
        talk.end();
        return said.trim();
      };
      const start = await told("smtp");
      await box.blow({ what: `smtp: ${what}`, strike });
      assert.ok((await told("smtp")) > start, "it came to something");
    });
});
