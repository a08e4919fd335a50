import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Program } from "../../src/app/prove/scratch-box.ts";
import { openReadOnly } from "../../src/ground/store/database.ts";
import { type BoxProcess, boxProcess } from "./box-process.ts";
import { startForwarder } from "./forwarder.ts";
import { memoryOrTemp } from "./memory.ts";
import { type Ends, testDatabase } from "./postgres.ts";
import type { PostgresPair } from "./postgres-pair.ts";
import { program } from "./program.ts";

/** A database for a box, and machines that serve it as processes. */
export interface KeptStage {
  /** Below it are the machines' data directories. */
  root: string;
  /** A machine's box, which isn't started. */
  machine(name: string, more?: readonly string[]): BoxProcess;
  /** The program without the database. */
  plain: Program;
  /** Statements for the database. */
  ask<Row extends object>(sql: string): Promise<Row[]>;
  /** From now on nobody reaches the database, or everybody does. */
  reach(isReached: boolean): void;
}

/** `pair`: whose database it is. Default: one that syncs nothing. */
export async function keptStage(t: TestContext, pair?: PostgresPair): Promise<KeptStage> {
  const database = pair ? null : await testDatabase(t, { empty: true });
  const root = mkdtempSync(join(memoryOrTemp(), "box-kept-"));
  const plain = await program();
  const machines: BoxProcess[] = [];
  let isReached = true;
  const path = () => join(database?.socket ?? pair?.socket() ?? "", ".s.PGSQL.5432");
  const forwarder = await startForwarder(() => (isReached ? [{ path: path() }] : []));
  const own = database?.open();
  t.after(async () => {
    for (const one of machines) await one.discard();
    await forwarder.close();
    rmSync(root, { recursive: true });
  });
  const url = `postgres://box@127.0.0.1:${forwarder.port}/${database?.name ?? "box"}`;
  return {
    root,
    plain,
    machine(name, more = []) {
      const data = join(root, name);
      mkdirSync(data);
      const made = boxProcess(["env", `BOX_DATABASE=${url}`, ...more, ...plain], data);
      machines.push(made);
      return Object.assign(Object.create(made) as BoxProcess, {
        async start() {
          await made.start();
          // Until the life of the machine before is over it stands by. As it takes the box its port is closed a moment.
          for (;;) {
            const role = await made.api.call("GET", "/v1/role").catch(() => null);
            if (role !== null && role.status !== 503) return;
            const end = await Promise.race([made.ended(), pause(250, null)]);
            if (end !== null) throw new Error(`the box ended (exit code ${end.code}): ${end.said}`);
          }
        },
      });
    },
    ask: (sql) => own?.query(sql) ?? Promise.reject(new Error("ask the pair")),
    reach(may) {
      isReached = may;
      if (!may) forwarder.cut();
    },
  };
}

/** The words that start this tree's program; with `DATABASE=1` around the test, on a database of its own. */
export async function programAsAsked(t: Ends): Promise<Program> {
  const plain = await program();
  if (process.env["DATABASE"] !== "1") return plain;
  const { url } = await testDatabase(t, { empty: true });
  return ["env", `BOX_DATABASE=${url}`, ...plain];
}

/** Numbers of events: the latest that was sent, and those that were answered. */
export interface Ledger {
  last: number;
  answered: Set<string>;
}

/** Sends events until the box is gone. */
export async function sendUntilGone(box: BoxProcess, token: string, ledger: Ledger) {
  for (;;) {
    const n = String(++ledger.last);
    const event = { message: "the till is stuck", keys: { n } };
    const reply = await box.ingest(token, event).catch(() => null);
    if (reply === null) return;
    if (reply.status === 202) ledger.answered.add(n);
  }
}

/** Everything but the keys goes, as with a new disk to which they were copied. */
export function loseDisk(data: string): void {
  for (const name of readdirSync(data))
    if (!name.startsWith("box.key")) rmSync(join(data, name), { recursive: true });
}

/** The number of each event that opened an alert in the store, and the ids of all alerts. */
export function alertsIn(data: string): { numbers: Set<string>; ids: number[] } {
  const db = openReadOnly(join(data, "box.db"));
  try {
    const rows = db
      .prepare("SELECT id, json_extract(identifiers, '$.n') AS n FROM alerts ORDER BY id")
      .all() as { id: number; n: string }[];
    return { numbers: new Set(rows.map(({ n }) => String(n))), ids: rows.map(({ id }) => id) };
  } finally {
    db.close();
  }
}
