import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { without } from "../faults/tools.ts";
import { postgresTest } from "../support/postgres.ts";
import { type Machine, SENDER, twoMachines } from "../support/two-machines.ts";
import { untilSo } from "../support/until.ts";

/** What senders of each kind send to a machine that stands by is the serving machine's. */

/** Sends datagrams from the sender's own address. */
async function datagrams(port: number, host: string, all: readonly (string | Buffer)[]) {
  const socket = createSocket("udp4");
  socket.bind({ address: SENDER });
  await once(socket, "listening");
  for (const one of all) await new Promise((sent) => socket.send(one, port, host, sent));
  socket.close();
}

const gelf = (text: string) =>
  JSON.stringify({ version: "1.1", host: "db7", short_message: text, level: 3 });

/** A message of GELF in two pieces. */
function chunked(text: string): Buffer[] {
  const bytes = Buffer.from(gelf(text));
  const half = bytes.length >> 1;
  return [bytes.subarray(0, half), bytes.subarray(half)].map((piece, i) =>
    Buffer.concat([Buffer.from([0x1e, 0x0f, 1, 2, 3, 4, 5, 6, 7, 8, i, 2]), piece]),
  );
}

interface Way {
  at: Machine;
  text: string;
  token(kind: string): string;
}

/** How each sends a text to a machine. */
const SENDERS: Record<string, (way: Way) => Promise<unknown>> = {
  "syslog by UDP, known by its address": ({ at, text }) =>
    datagrams(at.syslogPort, at.host, [`<11>1 - db7 kernel - - - ${text}`]),
  "syslog by UDP, logger with a token": async ({ at, text, token }) => {
    if (without("logger") !== false)
      return datagrams(at.syslogPort, at.host, [`<11>1 - db7 app - - - ${text}`]);
    const to = ["-n", at.host, "-d", "-P", String(at.syslogPort), "-p", "daemon.err"];
    const data = ["--rfc5424", "--sd-id", `${token("syslog")}@41058`, "--sd-param", 'a="b"'];
    await promisify(execFile)("logger", [...to, ...data, text]);
  },
  "GELF by UDP": ({ at, text }) => datagrams(at.gelfPort, at.host, [gelf(text)]),
  "GELF by UDP, in pieces": ({ at, text }) => datagrams(at.gelfPort, at.host, chunked(text)),
  async "GELF by TCP"({ at, text }) {
    const socket = connect({ host: at.host, port: at.gelfPort });
    socket.end(`${gelf(text)}\0`);
    await once(socket, "close");
  },
  async "OTLP by HTTP"({ at, text, token }) {
    const record = { severityNumber: 17, body: { stringValue: text } };
    const answer = await fetch(`${at.url}/v1/in/otlp/v1/logs`, {
      method: "POST",
      headers: { authorization: `Bearer ${token("otlp")}`, "content-type": "application/json" },
      body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }),
    });
    assert.equal(answer.status, 200, await answer.text());
  },
};
const MANY = 300;

postgresTest(
  "each kind of sender may send to the machine that stands by, also while nobody serves",
  async (t) => {
    const { one, two } = await twoMachines(t, { isLinked: true });
    const isRole = (machine: Machine, role: string) =>
      untilSo(async () => (await machine.role())?.role === role, `${machine.name}: ${role}`);
    await isRole(two, "standby");
    const tokens = new Map<string, string>();
    for (const kind of ["syslog", "gelf", "otlp"]) {
      const made = await one.api.need("POST", "/v1/projects/shop/sources", { name: kind, kind });
      tokens.set(kind, String(made["short_token"] ?? made["token"]));
    }
    const hears = async (machine: Machine, text: string) =>
      JSON.stringify(await machine.api.need("GET", "/v1/alerts?limit=100")).includes(text);
    const token = (kind: string) => tokens.get(kind) ?? "";
    // What changes is told by the other machine's stream.
    const live = await fetch(`${two.url}/v1/changes`, {
      headers: { authorization: `Bearer ${two.api.key}`, accept: "text/event-stream" },
    });
    assert.equal(live.status, 200);
    const reader = live.body?.getReader();
    let told = "";
    for (const [what, send] of Object.entries(SENDERS)) {
      const text = `${what.replaceAll(/[^A-Za-z]/g, "-")} is heard`;
      await send({ at: two, text, token });
      await untilSo(() => hears(one, text), what);
    }
    while (!told.includes("alert")) told += Buffer.from((await reader?.read())?.value ?? []);
    await reader?.cancel();
    // Its owner stands still: what is sent meanwhile it can't take, whatever its system has.
    one.signal("SIGSTOP");
    const lines = Array.from({ length: MANY }, (_, i) => `<11>1 - db7 kernel - - - held no. ${i}`);
    for (let from = 0; from < MANY; from += 50) {
      await datagrams(two.syslogPort, two.host, lines.slice(from, from + 50));
      await pause(20);
    }
    await isRole(two, "owner");
    const count = async () => {
      const { alerts } = (await two.api.need("GET", "/v1/alerts?limit=100")) as unknown as {
        alerts: { title: string; count: number }[];
      };
      return alerts
        .filter(({ title }) => title.includes("held no."))
        .reduce((sum, { count: n }) => sum + n, 0);
    };
    await untilSo(async () => (await count()) >= MANY, "all that was sent is taken");
    assert.equal(await count(), MANY, "and none twice");
    one.signal("SIGCONT");
    assert.equal((await one.ended()).code, 1);
  },
);
