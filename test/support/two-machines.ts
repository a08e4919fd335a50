import { createSocket } from "node:dgram";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Program } from "../../src/app/prove/scratch-box.ts";
import { type BoxProcess, boxProcess } from "./box-process.ts";
import { startForwarder } from "./forwarder.ts";
import { freePort } from "./free-port.ts";
import { memoryOrTemp } from "./memory.ts";
import { fill } from "./newer.ts";
import { testDatabase } from "./postgres.ts";
import { program } from "./program.ts";
import { startReceiver } from "./receiver.ts";

/** A machine that can serve the box, and its own way to the database. */
export interface Machine extends BoxProcess {
  readonly name: string;
  /** Its ports for senders, where machines are linked: both have the same numbers, and addresses of their own. */
  readonly host: string;
  readonly syslogPort: number;
  readonly smtpPort: number;
  readonly gelfPort: number;
  /** Whether it reaches the database from now on. */
  reach(isReached: boolean): void;
  /** Whether the other machine reaches its link. */
  reachLink(isReached: boolean): void;
  /** It has no power: it ends at once, and what was connected with it hears nothing of that until `reach` and `reachLink`. */
  powerOff(): Promise<void>;
  /** Starts it with another program. */
  startAs(other: Program): Promise<void>;
  /** Starts it with these variables of its environment as well. */
  startWith(more: readonly string[]): Promise<void>;
  /** What it says of itself; null where it doesn't answer. */
  role(): Promise<Said | null>;
}

interface Said {
  status: number;
  role: string;
  owner: string | null;
  epoch: number;
  behind: number;
}

export interface TwoMachines {
  one: Machine;
  two: Machine;
  /** Statements for the database. */
  ask<Row extends object>(sql: string): Promise<Row[]>;
  ledger: Ledger;
}

/** What was answered, and what was heard outside. */
export interface Ledger {
  answered: Set<string>;
  /** For each page that came: which event's, of which alert, and when. */
  pages: { n: string; id: string; at: number }[];
  sent: number;
  /** When each event was first sent. */
  began: Map<string, number>;
  /** Each try that wasn't answered 202: when it ended, and how. */
  refused: { at: number; how: string }[];
  /** When the answers came, and how long each event had to wait for its yes, in milliseconds. */
  heard: { at: number; waited: number }[];
  /** Events that were sent once, as datagrams: when, and to which machine. */
  datagrams: { n: string; at: number; to: Machine }[];
  /** The longest that an event had to wait for its yes, in milliseconds. */
  longest: number;
  /** Sends one event once, with patience. Whether it was taken. */
  send(at: Machine, n: string): Promise<boolean>;
  /**
   * Sends events from now on, each until it is answered, to `machines` in turn, asked each time. Resolves when it has
   * ended.
   */
  sending(signal: AbortSignal, machines?: () => readonly Machine[]): Promise<void>;
  /** Sends events by syslog over UDP from now on, to both machines in turn; `shop/syslog` has to read `name=value`. */
  shooting(signal: AbortSignal): Promise<void>;
}

const PATIENCE_MS = 3_000;
/** Of a sender that knows one machine. */
const LONG_PATIENCE_MS = 30_000;
const SENDERS = 4;
const DATAGRAM_MS = 100;
/** Whose syslog is known by this address. */
export const SENDER = "127.0.0.9";

/**
 * Two machines of one box: the first serves it, and the second stands by. `isLinked`: it sends on what comes to it.
 * `first`: the program that both start with. `mib`: how large the store is.
 */
export async function twoMachines(
  t: TestContext,
  { isLinked = false, first, mib = 0 }: TwoMachinesOptions = {},
): Promise<TwoMachines> {
  const database = await testDatabase(t, { empty: true });
  const root = mkdtempSync(join(memoryOrTemp(), "box-two-"));
  const plain = first ?? (await program());
  const path = join(database.socket, ".s.PGSQL.5432");
  const own = database.open();
  const ends: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    for (const end of ends) await end();
    rmSync(root, { recursive: true });
  });
  const ports = isLinked ? [await freePort(), await freePort(), await freePort()] : [];
  const machine = async (name: string, host: string): Promise<Machine> => {
    let isReached = true;
    const forwarder = await startForwarder(() => (isReached ? [{ path }] : []));
    const data = join(root, name);
    mkdirSync(data);
    const url = `postgres://box@127.0.0.1:${forwarder.port}/${database.name}`;
    const linkPort = isLinked ? await freePort() : 0;
    let isLinkReached = true;
    const linked = isLinked
      ? await startForwarder(() => (isLinkReached ? [{ host: "127.0.0.1", port: linkPort }] : []))
      : null;
    if (linked !== null) ends.push(linked.close);
    const link = isLinked
      ? [
          `BOX_CLUSTER_LISTEN=127.0.0.1:${linkPort}`,
          `BOX_CLUSTER_ADDRESS=127.0.0.1:${linked?.port}`,
          `BOX_SYSLOG_TCP=${host}:${ports[0]}`,
          `BOX_SYSLOG_UDP=${host}:${ports[0]}`,
          `BOX_GELF_TCP=${host}:${ports[2]}=shop/gelf`,
          `BOX_GELF_UDP=${host}:${ports[2]}=shop/gelf`,
          `BOX_SYSLOG_SENDER=${SENDER}=shop/syslog`,
          `BOX_SMTP=${host}:${ports[1]}`,
        ]
      : [];
    const words = (of: Program): Program => ["env", `BOX_DATABASE=${url}`, ...link, ...of];
    const box = boxProcess(words(plain), data);
    ends.push(box.discard, forwarder.close);
    return Object.assign(Object.create(box) as BoxProcess, {
      name,
      host,
      syslogPort: ports[0] ?? 0,
      smtpPort: ports[1] ?? 0,
      gelfPort: ports[2] ?? 0,
      reach(may: boolean) {
        isReached = may;
        if (!may) forwarder.cut();
      },
      reachLink(may: boolean) {
        isLinkReached = may;
        if (!may) linked?.cut();
      },
      async powerOff() {
        forwarder.silence();
        linked?.silence();
        await box.kill();
      },
      startAs: (other: Program) => box.start(words(other)),
      startWith: (more: readonly string[]) => box.start(words(["env", ...more, ...plain])),
      async role() {
        // By a connection of its own: one that a request was sent on by is the other machine's.
        const answer = await askedAlone(`${box.url}/v1/role`).catch(() => null);
        if (answer === null) return null;
        return { ...(JSON.parse(answer.text) as Omit<Said, "status">), status: answer.status };
      },
    });
  };
  const [one, two] = [await machine("one", "127.0.0.1"), await machine("two", "127.0.0.2")];
  const receiver = await startReceiver();
  ends.push(receiver.close);
  await one.start();
  const token = await one.project("shop", receiver.url);
  if (mib > 0) {
    await one.stop();
    fill(join(one.data, "box.db"), mib);
    await one.start();
    // Until the database has it all, whoever stands by would take the small one.
    while ((await one.role())?.role !== "owner") await pause(200);
  }
  cpSync(join(one.data, "box.key"), join(two.data, "box.key"));
  two.api.key = one.api.key;
  await two.start();
  return { one, two, ask: (sql) => own.query(sql), ledger: ledgerOf([one, two], token, receiver) };
}

export interface TwoMachinesOptions {
  isLinked?: boolean;
  first?: Program;
  mib?: number;
}

function ledgerOf(
  machines: readonly Machine[],
  token: string,
  receiver: Awaited<ReturnType<typeof startReceiver>>,
): Ledger {
  const pages: Ledger["pages"] = [];
  receiver.always((response, _socket, { body }) => {
    const {
      event,
      alert_id: id,
      identifiers,
    } = JSON.parse(body) as {
      event: string;
      alert_id: string;
      identifiers: { n: string };
    };
    if (event === "alert.opened") pages.push({ n: identifiers.n, id, at: performance.now() });
    response.writeHead(204).end();
  });
  const tried = async (at: Machine, n: string, patience: number) => {
    const answer = await fetch(`${at.url}/v1/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ message: "the till is stuck", keys: { n } }),
      signal: AbortSignal.timeout(patience),
    });
    await answer.arrayBuffer();
    return answer.status === 202 ? null : String(answer.status);
  };
  const ledger: Ledger = {
    answered: new Set(),
    pages,
    sent: 0,
    began: new Map(),
    refused: [],
    heard: [],
    datagrams: [],
    longest: 0,
    send: async (at, n) => (await tried(at, n, LONG_PATIENCE_MS)) === null,
    async sending(signal, only) {
      const patience = only ? LONG_PATIENCE_MS : PATIENCE_MS;
      const sender = async () => {
        while (!signal.aborted) {
          const n = String(++ledger.sent);
          ledger.began.set(n, performance.now());
          for (let turn = ledger.sent; !signal.aborted; turn++) {
            const some = only?.() ?? machines;
            const at = some[turn % some.length] as Machine;
            const how = await tried(at, n, patience).catch((error: unknown) => codeOf(error));
            if (how === null) {
              ledger.answered.add(n);
              const at = performance.now();
              const waited = at - (ledger.began.get(n) ?? 0);
              ledger.heard.push({ at, waited });
              ledger.longest = Math.max(ledger.longest, waited);
              break;
            }
            ledger.refused.push({ at: performance.now(), how });
            await pause(100);
          }
          await pause(50);
        }
      };
      await Promise.all(Array.from({ length: SENDERS }, sender));
    },
    async shooting(signal) {
      const socket = createSocket("udp4").on("error", () => {});
      socket.bind({ address: SENDER });
      await once(socket, "listening");
      for (let turn = 0; !signal.aborted; turn++) {
        const to = machines[turn % machines.length] as Machine;
        const [n, at] = [`udp-${turn}`, performance.now()];
        ledger.began.set(n, at);
        ledger.datagrams.push({ n, at, to });
        socket.send(`<11>1 - till app - - - n=${n} is stuck`, to.syslogPort, to.host);
        await pause(DATAGRAM_MS);
      }
      socket.close();
    },
  };
  return ledger;
}

const codeOf = (error: unknown): string => {
  const { name, cause } = error as Error & { cause?: { code?: string } };
  return cause?.code ?? name;
};

/** One request on a connection of its own. */
async function askedAlone(url: string): Promise<{ status: number; text: string }> {
  const asked = get(url, { agent: false, signal: AbortSignal.timeout(PATIENCE_MS) });
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await text(answer) };
}
