import { type ChildProcess, spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { ownCommand } from "./assets.ts";

/** This program once more, in a process of its own that steps back behind the serving one. */
export interface OwnProcess {
  /** `code`: null where it didn't begin or was ended. `out` and `said`: what it wrote, as much as is kept. */
  readonly ended: Promise<{ code: number | null; out: string; said: string }>;
  /** Ends it at once. */
  kill(): void;
}

const SAID_MOST = 2_000;

/** `words`: the command and what it takes. `outMost`: bytes that are kept of its answer; the usual: none. */
export function startOwn(words: readonly string[], outMost = 0): OwnProcess {
  const [program, ...before] = ownCommand();
  const child = spawn(program, [...before, ...words], {
    env: surroundings(),
    stdio: ["ignore", outMost > 0 ? "pipe" : "ignore", "pipe"],
  });
  stepBack(child);
  return { ended: endOf(child, outMost), kill: () => void child.kill("SIGKILL") };
}

/** What concerns the serving process alone is not handed on: its supervisor's socket, its own settings. */
function surroundings(): NodeJS.ProcessEnv {
  const own = (name: string) =>
    name === "NOTIFY_SOCKET" ||
    name.startsWith("WATCHDOG_") ||
    (name.startsWith("BOX_") && name !== "BOX_CACHE_DIR");
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own(name)));
}

function stepBack({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // Refused by a strict host: it then shares the processor evenly.
  }
}

function endOf(child: ChildProcess, outMost: number): OwnProcess["ended"] {
  return new Promise((resolve) => {
    let [out, said] = ["", ""];
    child.stdout?.setEncoding("utf8").on("data", (data: string) => {
      out = (out + data).slice(0, outMost);
    });
    child.stderr?.setEncoding("utf8").on("data", (data: string) => {
      said = (said + data).slice(0, SAID_MOST);
    });
    child.once("error", (error) => resolve({ code: null, out, said: error.message }));
    child.once("close", (code) => resolve({ code, out, said }));
  });
}
