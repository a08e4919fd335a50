import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Program } from "../../src/app/prove/scratch-box.ts";
import { boxProcess } from "../support/box-process.ts";
import { programAsAsked } from "../support/kept-box.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";

/** A system call that fails, as strace writes it: `fsync,fdatasync:error=EIO`. `when` is added. */
export interface Fault {
  calls: string;
  error: string;
  /** How many calls in a row fail, from the Nth on. */
  run: number;
  /** Whether only calls on the box's own files count; else all of the process. */
  ownFiles: boolean;
}

export const faults = {
  sync: { calls: "fsync,fdatasync", error: "EIO", run: 1, ownFiles: true },
  write: { calls: "pwrite64", error: "EIO", run: 1, ownFiles: true },
  full: { calls: "pwrite64", error: "ENOSPC", run: 10, ownFiles: true },
  open: { calls: "openat", error: "EMFILE", run: 1, ownFiles: true },
  shorten: { calls: "ftruncate", error: "EIO", run: 1, ownFiles: true },
  connect: { calls: "connect", error: "ECONNREFUSED", run: 1, ownFiles: false },
} as const satisfies Record<string, Fault>;

/** What one run with one fault came to. */
export interface FaultRun {
  /** Whether the Nth call was ever made. */
  injected: boolean;
  accepted: number;
  /** Statuses of the events that were answered with something else than 202. */
  refused: number[];
  /** Exit code of the box under the fault; null while it had to be stopped. */
  code: number | null;
  /** Accepted events that are not there after the restart, pages that never came, other breaches. */
  breaches: string[];
}

/** Exit codes that the contract names (contract §11); a stop in order is 0. */
const DOCUMENTED = [0, 1, 2, 65, 74, 78];
const EVENTS = 12;
const PAGES_MS = 20_000;

/** A box with a project and a webhook, stopped, whose files each run begins with a copy of. */
export interface Stage {
  run(fault: Fault, n: number): Promise<FaultRun>;
  close(): Promise<void>;
}

export async function createStage(program: Program): Promise<Stage> {
  const receiver = await startReceiver();
  const model = boxProcess(program);
  await model.start();
  const token = await model.project("shop", receiver.url);
  await model.stop();
  const { key } = model.api;
  return {
    run: (fault, n) => runOnce({ receiver, token, key, model: model.data }, fault, n),
    async close() {
      await model.discard();
      await receiver.close();
    },
  };
}

interface Set {
  receiver: Receiver;
  token: string;
  key: string;
  model: string;
}

let runs = 0;

async function runOnce(set: Set, fault: Fault, n: number): Promise<FaultRun> {
  const root = mkdtempSync(join(tmpdir(), "box-fault-"));
  const data = join(root, "data");
  cpSync(set.model, data, { recursive: true });
  const ends: (() => Promise<void>)[] = [];
  // The first start with a database brings what lies there into it.
  const program = await programAsAsked({ after: (end) => ends.push(end) });
  const box = boxProcess(program, data);
  box.api.key = set.key;
  const log = join(root, "strace");
  const prefix = `${++runs}-`;
  const since = set.receiver.received.length;
  const result: FaultRun = { injected: false, accepted: 0, refused: [], code: null, breaches: [] };
  try {
    const accepted = await feedUnderFault(box, {
      set,
      prefix,
      result,
      faulty: underFault(program, { fault, n, data, log }),
    });
    result.injected = readFileSync(log, "utf8").includes("INJECTED");
    result.accepted = accepted.length;
    await box.start();
    result.breaches.push(
      ...(await breachesAfter(box, { receiver: set.receiver, since }, accepted)),
    );
    await box.stop();
  } catch (error) {
    result.breaches.push(String(error));
  } finally {
    await box.discard();
    for (const end of ends) await end();
    rmSync(root, { recursive: true, force: true });
  }
  return result;
}

/** The tracer is the grandchild, so that signals and exit codes are the box's own. */
function underFault(
  program: Program,
  { fault, n, data, log }: { fault: Fault; n: number; data: string; log: string },
): Program {
  const last = n + fault.run - 1;
  const when = last === n ? String(n) : `${n}..${last}`;
  const own = ["", "/box.db", "/box.db-wal", "/box.db-shm", "/serve.lock", "/ballast", "/box.key"];
  return [
    "strace",
    "-D",
    "-f",
    "--seccomp-bpf",
    "-qq",
    "-o",
    log,
    ...(fault.ownFiles ? own.flatMap((name) => ["-P", data + name]) : []),
    "-e",
    `trace=${fault.calls}`,
    "-e",
    `inject=${fault.calls}:error=${fault.error}:when=${when}`,
    ...program,
  ];
}

type Box = ReturnType<typeof boxProcess>;

/** Starts the box under the fault, sends it events one by one, and ends it; those that were accepted. */
async function feedUnderFault(
  box: Box,
  how: { set: Set; prefix: string; result: FaultRun; faulty: Program },
): Promise<string[]> {
  const { set, prefix, result } = how;
  const accepted: string[] = [];
  const isUp = await box.start(how.faulty).then(
    () => true,
    () => false,
  );
  if (isUp) {
    for (let i = 0; i < EVENTS; i++) {
      const id = prefix + i;
      const event = { message: "the till is stuck", keys: { n: id } };
      const reply = await box.ingest(set.token, event).catch(() => null);
      if (reply?.status === 202) accepted.push(id);
      else if (reply !== null) result.refused.push(reply.status);
    }
  }
  const { code, signal, said } = await box.stop();
  result.code = code;
  if (code === null || !DOCUMENTED.includes(code))
    result.breaches.push(`exit code ${code ?? signal}: ${said}`);
  if (/unhandled/i.test(said)) result.breaches.push(`unhandled: ${said}`);
  return accepted;
}

async function breachesAfter(
  box: Box,
  { receiver, since }: { receiver: Receiver; since: number },
  accepted: string[],
): Promise<string[]> {
  const answer = await box.api.need("GET", "/v1/projects/shop/logtail?limit=200");
  const lines = answer["messages"] as { keys: { n: string } }[];
  const stored = new Set(lines.map(({ keys }) => keys.n));
  const lost = accepted.filter((id) => !stored.has(id)).map((id) => `event ${id} is gone`);
  return [...lost, ...(await unpaged(receiver, since, accepted))];
}

/** Each accepted event opened an alert of its own: its page comes, now that nothing fails. */
async function unpaged(receiver: Receiver, since: number, accepted: string[]): Promise<string[]> {
  const missing = () => {
    const bodies = receiver.received.slice(since).map(({ body }) => body);
    return accepted.filter((id) => !bodies.some((body) => body.includes(`"n":"${id}"`)));
  };
  const from = performance.now();
  while (missing().length > 0 && performance.now() - from < PAGES_MS) await pause(5);
  return missing().map((id) => `the page of event ${id} never came`);
}
