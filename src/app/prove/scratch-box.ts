import { type ChildProcess, execFile, spawn } from "node:child_process";
import { type Clock, sleep } from "../../ground/kit/clock.ts";

/** The command line that starts a box, before the name of its command. */
export type Program = readonly [string, ...string[]];

/** One process of the scratch box. */
export interface Process {
  /** Resolves with its address once it is ready; null when it ended before. */
  readonly ready: Promise<string | null>;
  /** Resolves when it has ended in any way. */
  readonly ended: Promise<Ending>;
  kill(signal: "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT"): void;
  /** Whether a signal was sent to it. Its end then counts as no failure. */
  readonly wasKilled: boolean;
}

export interface Ending {
  code: number | null;
  signal: string | null;
  /** The last lines of its log. */
  said: string;
}

const LAST = 4000;

/** `more`: variables of its environment. */
export function startBoxProcess(
  program: Program,
  data: string,
  more: Readonly<Record<string, string>> = {},
): Process {
  const [command, ...words] = program;
  // Pages carry links only where they lead somewhere; what is pressed is asked where the box listens.
  const at = ["--listen", "127.0.0.1:0", "--public-url", "http://127.0.0.1"];
  const args = [...words, "serve", "--data", data, ...at];
  const child = spawn(command, args, {
    env: { ...environment(), ...more },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let wasKilled = false;
  child.stderr?.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-LAST);
  });
  const ended = new Promise<Ending>((resolve) => {
    child.on("error", (error) => resolve({ code: null, signal: null, said: error.message }));
    child.on("close", (code, signal) => resolve({ code, signal, said }));
  });
  return {
    ready: Promise.race([listening(child), ended.then(() => null)]),
    ended,
    kill(signal) {
      wasKilled = true;
      child.kill(signal);
    },
    get wasKilled() {
      return wasKilled;
    },
  };
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const found = /^listening on (\S+)$/m.exec(text);
      if (found?.[1] !== undefined) resolve(found[1]);
    });
  });
}

/** Runs one command on the data directory and parses its JSON. Rejects where it fails. */
export function runCommand(
  program: Program,
  words: readonly string[],
): Promise<Record<string, unknown>> {
  const [command, ...before] = program;
  return new Promise((resolve, reject) => {
    execFile(command, [...before, ...words], { env: environment() }, (error, out) => {
      if (error) reject(error);
      else resolve(JSON.parse(out) as Record<string, unknown>);
    });
  });
}

/** Without the settings of the caller's own box. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      name === "BOX_CACHE_DIR" || !/^(BOX_|NOTIFY_SOCKET|WATCHDOG_|LISTEN_|NODE_TEST)/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    BOX_INGEST_RATE: "0",
    BOX_API_RATE: "0",
    BOX_PAIR_RATE: "0",
  };
}

/** Resolves with the promise's value, or null when that takes longer. */
export async function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | null> {
  const over = new AbortController();
  try {
    return await Promise.race([promise, sleep(clock, ms, over.signal).then(() => null)]);
  } finally {
    over.abort();
  }
}
