import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { deflateSync, gzipSync } from "node:zlib";
import { handOver, smtpTalk } from "../web/intake/smtp-client.ts";
import { fillers } from "./bodies.ts";
import type { Blow, Struck } from "./hour.ts";

/** Strikes at the ports beside HTTP's, and the tables of what they are made of. */

type OneOf = <T>(all: readonly T[]) => T;

/** A box's ports, with what waits until a port has read what was sent. */
export function portsOf(box: Struck) {
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

  return { told, stream, datagrams, portOf };
}
export type Ports = ReturnType<typeof portsOf>;

export const KIB = 1024;
const HEAD = "<11>1 2026-05-01T10:00:00Z web-01 app 7 id ";

type Make = (bytes: number, oneOf: OneOf) => string;

/** What a message of syslog can be made of, about so long. */
export const syslogs: Readonly<Record<string, Make>> = {
  "a text": (bytes) => `${HEAD}- ${"a ".repeat(bytes / 2)}`,
  pairs: (bytes) =>
    `${HEAD}- ${Array.from({ length: bytes / 9 }, (_, i) => `k${i % 9999}=v`).join(" ")}`,
  "quotes that don't end": (bytes) => `${HEAD}- ${'a="\\'.repeat(bytes / 4)}`,
  "elements of data": (bytes) => `${HEAD}${'[a@1 b="c"]'.repeat(bytes / 11)} x`,
  "values of data": (bytes) => `${HEAD}[a@1${' b="c"'.repeat(bytes / 6)}] x`,
  "data that doesn't end": (bytes) => `${HEAD}${'[a@1 b="\\"'.repeat(bytes / 10)}`,
  "spaces alone": (bytes) => `<11>${" ".repeat(bytes)}x`,
  colons: (bytes) => `<11>Oct 11 22:14:15 ${"a[1]: ".repeat(bytes / 6)}`,
  JSON: (bytes, oneOf) => `${HEAD}- ${oneOf(Object.values(fillers))(bytes)}`,
  "an object": (bytes, oneOf) => `${HEAD}- {"msg":"x","a":${oneOf(Object.values(fillers))(bytes)}}`,
};

export const SYSLOG_SIZES = [200, 4 * KIB, 60 * KIB];

/** A quarter of a megabyte of such messages by TCP, and as many datagrams. */
export function syslogBlows(
  ports: Ports,
  what: string,
  { bytes, oneOf }: { bytes: number; oneOf: OneOf },
): Blow[] {
  const make = syslogs[what];
  assert.ok(make, what);
  const one = Buffer.from(make(bytes, oneOf).replaceAll("\n", " ")).subarray(0, 60_000);
  const count = Math.ceil((256 * KIB) / one.length);
  const counted = Buffer.concat([Buffer.from(`${one.length} `), one]).toString("latin1");
  const all = Buffer.from(counted.repeat(count), "latin1");
  const name = `${bytes} bytes: ${what}`;
  return [
    { what: `syslog-tcp, ${name}`, strike: () => ports.stream("syslog-tcp", all, count) },
    {
      what: `syslog-udp, ${name}`,
      strike: () => ports.datagrams("syslog-udp", one, Math.min(count, 32)),
    },
  ];
}

export const GELF_SIZES = [200, 4 * KIB, 800 * KIB];

/** As much of such objects by TCP, and as datagrams that inflate to them. */
export function gelfBlows(
  ports: Ports,
  what: string,
  { bytes, oneOf }: { bytes: number; oneOf: OneOf },
): Blow[] {
  const filler = fillers[what];
  assert.ok(filler, what);
  const one = `{"version":"1.1","short_message":"x","_a":${filler(bytes)}}`;
  const count = Math.ceil((800 * KIB) / one.length);
  const all = Buffer.from(`${one}\0`.repeat(count));
  const small = oneOf([gzipSync, deflateSync])(one);
  const name = `${bytes} bytes: ${what}`;
  const streamed = {
    what: `gelf-tcp, ${name}`,
    strike: () => ports.stream("gelf-tcp", all, count),
  };
  if (small.length > 60_000) return [streamed];
  const strike = () => ports.datagrams("gelf-udp", small, 32);
  return [streamed, { what: `gelf-udp, inflated ${name}`, strike }];
}

const MIXED = 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n';
const times = (text: string, bytes: number) => text.repeat(bytes / text.length);

/** Mails of about a megabyte. */
export const mails: Readonly<Record<string, (bytes: number) => string>> = {
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

/** A mail of about so many bytes. */
export function mailBlow(ports: Ports, what: string, bytes = 900_000): Blow {
  const data = `Subject: x\r\n${mails[what]?.(bytes)}`;
  const strike = async () => {
    const talk = await smtpTalk(ports.portOf("smtp"));
    const said = await handOver(talk, { to: "ops@box", data });
    talk.end();
    return said.trim();
  };
  return { what: `smtp, ${bytes} bytes: ${what}`, strike };
}
