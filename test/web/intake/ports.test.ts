import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { boxConfig } from "../../../src/app/config.ts";
import { Zone } from "../../../src/core/oncall/zone.ts";
import { createProject, getProject } from "../../../src/core/projects/projects.ts";
import { createSource } from "../../../src/core/projects/sources.ts";
import { ServiceError } from "../../../src/ground/kit/errors.ts";
import { readSyslog } from "../../../src/in/adapters/syslog/message.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { boxCommand } from "../../support/process.ts";
import { until } from "../../support/until.ts";

const fixtures = join(import.meta.dirname, "../../fixtures");
const tls = {
  tlsCert: join(fixtures, "localhost.crt"),
  tlsKey: join(fixtures, "localhost.key"),
};

/** A port of the box by its place among the flags. */
const portOf = (box: TestBox, i: number) => {
  const { host, port } = box.ports[i] ?? { host: "", port: 0 };
  return { host, port };
};

async function sendUdp(to: { host: string; port: number }, ...texts: string[]): Promise<void> {
  const socket = createSocket("udp4");
  for (const text of texts)
    await new Promise<void>((sent) => socket.send(text, to.port, to.host, () => sent()));
  socket.close();
}

function write(socket: Socket, text: string): Promise<void> {
  return new Promise((done) => void socket.write(text, () => done()));
}

const accepted = (box: TestBox) => box.tenant.ingest.stats().accepted;

async function lost(box: TestBox, outcome: string): Promise<number> {
  const text = (await box.api("GET", "/metrics")).body as string;
  const found = [
    ...text.matchAll(/box_port_messages_total\{port="[^"]+",outcome="(\w+)"\} (\d+)/g),
  ];
  return found.filter(([, name]) => name === outcome).reduce((sum, [, , n]) => sum + Number(n), 0);
}

async function syslogSource(box: TestBox) {
  await box.api("POST", "/v1/projects", { name: "net" });
  const source = { name: "switches", kind: "syslog", retain_logs: true };
  const { token, short_token } = (await box.api("POST", "/v1/projects/net/sources", source)).body;
  return { token: String(token), short: String(short_token) };
}

async function lines(box: TestBox) {
  const { messages: all } = (await box.api("GET", "/v1/projects/net/logtail")).body;
  return (all as { message: string }[]).map(({ message }) => message);
}

describe("ports for syslog", () => {
  let box: TestBox;
  let tokens: { token: string; short: string };
  before(async () => {
    const syslogUdp = ["127.0.0.1:0=net/switches", "127.0.0.1:0"];
    box = await testBox({ syslogUdp, syslogTcp: ["127.0.0.1:0"] });
    tokens = await syslogSource(box);
  });
  after(() => box.stop());

  /** Runs what sends, and waits for so many events of it. */
  const brings = async (n: number, send: () => Promise<unknown>) => {
    const start = accepted(box);
    await send();
    await until(() => accepted(box) >= start + n, `${n} events`);
    assert.equal(accepted(box), start + n);
  };

  test("datagrams go to the source that their port is bound to", async () => {
    await brings(2, () => sendUdp(portOf(box, 0), "<11>app: one", "<11>1 - h app - - - two"));
    assert.equal(await lost(box, "taken"), 2);
  });

  test("a token in the message says whose it is; without one and without a bound port it is lost and counted", async () => {
    await brings(2, () =>
      sendUdp(
        portOf(box, 1),
        "<11>app: nobody's",
        `<11>1 - h app - - [box@32473 key="${tokens.token}"] mine`,
        `<11>1 - h app - - [${tokens.short}@41058] mine too`,
      ),
    );
    assert.equal(await lost(box, "no_source"), 1);
  });

  test("connections, in both framings, also broken off in the middle of a message", async () => {
    const mark = `<11>1 - h app - - [box@32473 key="${tokens.short}"] `;
    await brings(3, async () => {
      const socket = connect(portOf(box, 2));
      await write(socket, `${mark}by line\n${mark.length + 7} ${mark}counted${mark}hal`);
      socket.destroySoon();
    });
  });

  test("a count that can't be believed ends the connection, what came before it is taken", async () => {
    await brings(1, async () => {
      const socket = connect(portOf(box, 2));
      const closed = new Promise((resolve) => socket.on("close", resolve));
      socket.resume();
      await write(socket, `<11>1 - h app - - [${tokens.short}@1] good\n99999999 bad`);
      await closed;
    });
    assert.equal(await lost(box, "unreadable"), 1);
  });

  test("one address has half of the places, and another still gets in", async () => {
    const open = (localAddress: string) =>
      new Promise<{ socket: Socket; closed: Promise<unknown> }>((resolve) => {
        const socket = connect({ ...portOf(box, 2), localAddress }).on("error", () => {});
        const closed = new Promise((over) => socket.on("close", over));
        socket.resume().on("connect", () => resolve({ socket, closed }));
      });
    const start = await lost(box, "overloaded");
    const held = await Promise.all(Array.from({ length: 256 }, () => open("127.0.0.1")));
    await (await open("127.0.0.1")).closed;
    assert.equal(await lost(box, "overloaded"), start + 1);
    await brings(1, async () => {
      const { socket } = await open("127.0.0.2");
      await write(socket, `<11>1 - h app - - [${tokens.short}@1] from elsewhere\n`);
      socket.destroySoon();
    });
    for (const { socket } of held) socket.destroy();
    await Promise.all(held.map(({ closed }) => closed));
  });

  test("while nothing more can be written a connection isn't read, and nothing of it is lost", async (t) => {
    const { ingest } = box.tenant;
    const real = ingest.submit;
    let refused = 0;
    t.mock.method(ingest, "submit", (...given: Parameters<typeof real>) => {
      if (refused++ < 3) throw new ServiceError("overloaded", "full", { retryAfter: 1 });
      real(...given);
    });
    const start = accepted(box);
    const socket = connect(portOf(box, 2));
    await write(socket, `<11>1 - h app - - [${tokens.short}@1] late\n`);
    for (let n = 1; n <= 3; n++) {
      await until(() => refused >= n, `${n} refusals`);
      assert.equal(accepted(box), start);
      await box.clock.turn(100);
    }
    await until(() => accepted(box) === start + 1, "it is taken");
    const before = await lost(box, "overloaded");
    refused = 0;
    await sendUdp(portOf(box, 0), "<11>app: gone");
    await until(() => refused > 0, "a datagram is refused");
    assert.equal(await lost(box, "overloaded"), before + 1);
    socket.destroy();
  });

  test("a source that is deleted, made anew or of another kind is found out at once", async () => {
    await box.api("DELETE", "/v1/projects/net/sources/switches");
    const before = await lost(box, "no_source");
    await sendUdp(portOf(box, 0), "<11>app: for nobody");
    let now = before;
    while (now === before) now = await lost(box, "no_source");
    await box.api("POST", "/v1/projects/net/sources", { name: "switches", kind: "syslog" });
    await brings(1, () => sendUdp(portOf(box, 0), "<11>app: again"));
  });
});

test("TLS by the box's certificate", async () => {
  const box = await testBox({ syslogTls: ["127.0.0.1:0=net/switches"], ...tls });
  try {
    box.tenant.store.write((tx) => {
      const source = { name: "switches", kind: "syslog", retainLogs: false };
      createProject(tx, "net");
      createSource(tx, getProject(tx, "net"), { tenantId: box.tenant.id, ...source });
    });
    const ca = readFileSync(tls.tlsCert);
    const socket = connectTls({ ...portOf(box, 0), ca, servername: "localhost" });
    await new Promise((done) => socket.once("secureConnect", done));
    await write(socket, "<11>app: sealed\n");
    await until(() => accepted(box) === 1, "it is taken");
    socket.destroy();
  } finally {
    await box.stop();
  }
});

test("senders without a token are known by their certificate, and by their address where the port is bound to no source", async () => {
  const own = new X509Certificate(readFileSync(tls.tlsCert)).fingerprint256;
  const box = await testBox({
    syslogTls: ["127.0.0.1:0"],
    syslogUdp: ["127.0.0.1:0"],
    ...tls,
    syslogSender: [
      "192.0.2.0/24=net/nobody",
      "127.0.0.0/8=net/switches",
      `sha256:${own}=net/vault`,
    ],
  });
  try {
    const source = { tenantId: box.tenant.id, kind: "syslog", retainLogs: false };
    box.tenant.store.write((tx) => {
      createProject(tx, "net");
      for (const name of ["switches", "vault"])
        createSource(tx, getProject(tx, "net"), { ...source, name });
    });
    await sendUdp(portOf(box, 0), "<11>app: by address");
    await until(() => accepted(box) === 1, "the address is known");
    const ca = readFileSync(tls.tlsCert);
    const to = { ...portOf(box, 1), ca, servername: "localhost" };
    const mine = { cert: ca, key: readFileSync(tls.tlsKey) };
    const socket = connectTls({ ...to, ...mine });
    await new Promise((done) => socket.once("secureConnect", done));
    await write(socket, "<11>app: by certificate\n");
    await until(() => accepted(box) === 2, "the certificate is known");
    socket.destroy();
    const names = box.tenant.store.sql("SELECT id, name FROM sources").all() as {
      id: number;
      name: string;
    }[];
    const took = box.tenant.ingest
      .tallies()
      .map(({ sourceId, accepted: n }) => [names.find(({ id }) => id === sourceId)?.name, n]);
    assert.deepEqual(took.toSorted(), [
      ["switches", 1],
      ["vault", 1],
    ]);
  } finally {
    await box.stop();
  }
});

test("a time without a zone is one on the clocks of --syslog-zone", () => {
  const zone = new Zone("America/New_York");
  const at = (text: string) =>
    readSyslog(Buffer.from(`<11>${text} h a: x`), 1_767_603_600, (civil) => zone.first(civil)).at;
  assert.equal(at("Jan  5 04:00:00"), 1_767_603_600);
  assert.equal(at("Jan  5 09:00:00 UTC:"), at("Jan  5 09:00:00 GMT:"));
  // The hour that spring leaves out is the gap's end.
  assert.equal(at("2026 Mar  8 02:30:00"), Date.UTC(2026, 2, 8, 7, 30) / 1000);
});

test("only who may send is heard, beside this machine", async () => {
  const flags = { syslogUdp: ["0.0.0.0:0=net/switches"], allowFrom: ["192.0.2.0/24"] };
  const box = await testBox(flags);
  try {
    await syslogSource(box);
    await sendUdp({ ...portOf(box, 0), host: "127.0.0.1" }, "<11>app: from here");
    await until(() => accepted(box) === 1, "loopback is heard");
    assert.deepEqual(await lines(box), ["app: from here"]);
  } finally {
    await box.stop();
  }
});

test("a port that lets anyone in is refused at start in words", async () => {
  const faultOf = (flags: object) => {
    try {
      boxConfig({ data: "x", ...flags });
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.match(
    faultOf({ syslogUdp: ["0.0.0.0:514"] }),
    /--syslog-udp 0\.0\.0\.0:514.*--allow-from/,
  );
  assert.match(faultOf({ syslogTcp: ["[::]:514=a/b"] }), /--syslog-tcp.*--allow-from/);
  assert.equal(faultOf({ syslogTcp: ["0.0.0.0:514"] }), "");
  assert.equal(faultOf({ syslogUdp: ["0.0.0.0:514"], allowFrom: ["10.0.0.0/8"] }), "");
  assert.match(faultOf({ syslogUdp: ["127.0.0.1:514=a"] }), /HOST:PORT=PROJECT\/SOURCE/);
  assert.match(faultOf({ syslogUdp: ["514"] }), /--syslog-udp must be HOST:PORT/);
  assert.match(faultOf({ syslogZone: "Mars/Base" }), /--syslog-zone/);
  for (const bad of ["10.0.0.0/8", "10.0.0.0/8=a", "sha256:ab=a/b", "x=a/b"])
    assert.match(faultOf({ syslogSender: [bad] }), /--syslog-sender takes/);
  assert.match(faultOf({ syslogTls: ["127.0.0.1:0"] }), /--syslog-tls needs --tls-cert/);
  const two = boxConfig({ data: "x", syslogUdp: ["127.0.0.1:1=a, b/c,127.0.0.1:2"] });
  assert.deepEqual(
    two.intake.ports.map(({ port, bound }) => [port, bound?.project ?? null]),
    [
      [1, "a, b"],
      [2, null],
    ],
  );
  const { code, err } = await boxCommand("serve", "--syslog-udp", "0.0.0.0:514");
  assert.deepEqual([code, /--allow-from/.test(err)], [2, true]);
});
