import { type ChildProcess, spawn } from "node:child_process";
import { ownCommand } from "./assets.ts";
import { stepBack } from "./step-back.ts";

/** A command of this program in a process of its own, with a lower priority than the serving one. */
export interface OwnProcess {
  /** `code`: null where the process didn't start or was killed. `out` and `said`: its output and its errors, cut. */
  readonly ended: Promise<{ code: number | null; out: string; said: string }>;
  /** Kills it at once. */
  kill(): void;
}

const SAID_MOST = 2_000;

/** `words`: the command and its arguments. `outMost`: bytes of its output that are kept, by default none. */
export function startOwn(words: readonly string[], outMost = 0): OwnProcess {
  const [program, ...before] = ownCommand();
  const child = spawn(program, [...before, ...words], {
    env: surroundings(),
    stdio: ["ignore", outMost > 0 ? "pipe" : "ignore", "pipe"],
  });
  if (child.pid !== undefined) stepBack(child.pid);
  return { ended: endOf(child, outMost), kill: () => void child.kill("SIGKILL") };
}

/** The process doesn't get the service manager's socket and the server's own settings. */
function surroundings(): NodeJS.ProcessEnv {
  const own = (name: string) =>
    name === "NOTIFY_SOCKET" ||
    name.startsWith("WATCHDOG_") ||
    (name.startsWith("BOX_") && name !== "BOX_CACHE_DIR");
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own(name)));
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
