import { type ChildProcess, spawn } from "node:child_process";
import { constants, hostname } from "node:os";
import type { Readable, Writable } from "node:stream";
import type { Command } from "commander";
import { sleep, systemClock } from "../src/ground/kit/clock.ts";
import type { FlagsGiven } from "../src/ground/kit/flags.ts";
import { cut } from "../src/ground/kit/text.ts";
import { eventLimits } from "../src/in/ingest/event.ts";
import { tokenOf, urlOf } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { levelHelp } from "./level.ts";
import { addFlags, urlFlag } from "./options.ts";
import { RefusedError } from "./refused.ts";
import { send as request } from "./request.ts";
import { terminal } from "./terminal.ts";

const runFlags = {
  ...urlFlag,
  "--source <token>": { about: "ingest token (pti_…) of the source to send to", twin: "RUN" },
  "--level <level>": { about: `level of the event: ${levelHelp}`, usual: "error" },
  "--heartbeat <url>": { about: "address of a heartbeat that gets start and end", twin: "RUN" },
};

/** How much of a command's output is kept: its last lines, up to this many. */
const LINES = 20;
const CHARS = 16_384;
/** As in shells: not found, and not executable. */
const NOT_FOUND = 127;
const NOT_RUN = 126;
/** Added to a signal's number. */
const SIGNALLED = 128;

export function registerRun(program: Command): void {
  addFlags(program.command("run <command> [words...]"), runFlags)
    .description(
      "run a command; if it fails, send an event with its exit code and last lines. Ends with the same exit code",
    )
    .passThroughOptions()
    .action(run);
}

async function run(
  command: string,
  words: string[],
  options: FlagsGiven<typeof runFlags>,
): Promise<void> {
  const { level } = options;
  const token = options.source === undefined ? null : tokenOf("pti", options.source, "--source");
  const heartbeat = options.heartbeat === undefined ? null : pingUrl(options.heartbeat);
  if (heartbeat !== null) await told(() => ping(heartbeat, "/start", ""));
  const ran = await runCommand(command, words);
  if (heartbeat !== null)
    await told(() => ping(heartbeat, `/${Math.min(ran.code, 255)}`, ran.said));
  if (ran.code === 0) return;
  if (token !== null)
    await told(() => sendFailure(urlOf(options), token, { level, command, words, ...ran }));
  throw new CommandError(`${command} ended with ${ran.code}`, ran.code);
}

interface Ran {
  code: number;
  /** Its last lines. */
  said: string;
}

/** Runs the command on this terminal, and keeps the end of its output on both streams. */
function runCommand(command: string, words: readonly string[]): Promise<Ran> {
  const { env, stdout, stderr } = terminal();
  // A closed reader (`box run … | head`) doesn't end the command, and its end must still be reported.
  for (const stream of [stdout, stderr]) stream.removeAllListeners("error").on("error", () => {});
  return new Promise((resolve) => {
    const child = spawn(command, words, {
      stdio: ["inherit", "pipe", "pipe"],
      env: env as NodeJS.ProcessEnv,
    });
    const keepSignals = passSignals(child);
    let said = "";
    const pass = (from: Readable, to: Writable) =>
      from.on("data", (chunk: Buffer) => {
        to.write(chunk);
        said = (said + chunk.toString("utf8")).slice(-CHARS);
      });
    pass(child.stdout, stdout);
    pass(child.stderr, stderr);
    const end = (ran: Ran) => {
      keepSignals();
      resolve(ran);
    };
    child.once("error", (error: NodeJS.ErrnoException) =>
      end({ code: error.code === "ENOENT" ? NOT_FOUND : NOT_RUN, said: error.message }),
    );
    child.once("close", (code, signal) =>
      end({ code: code ?? SIGNALLED + signalNumber(signal), said: lastLines(said) }),
    );
  });
}

/** Signals by which service managers, `timeout` and closed terminals end a program. */
const ENDING = ["SIGTERM", "SIGHUP", "SIGINT"] as const;

/**
 * Passes to the command the signals that would end this program. So the command doesn't go on alone, and its end is
 * reported as a failure. Returns a function that stops passing.
 */
function passSignals(child: ChildProcess): () => void {
  const passing = ENDING.map((signal) => {
    // With Ctrl-C the terminal itself signals the command.
    const isThere = signal === "SIGINT" && process.stdin.isTTY;
    const pass = () => void (isThere || child.kill(signal));
    process.on(signal, pass);
    return () => void process.off(signal, pass);
  });
  return () => {
    for (const keep of passing) keep();
  };
}

function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : (constants.signals[signal] ?? 0);
}

function lastLines(text: string): string {
  return text.trimEnd().split("\n").slice(-LINES).join("\n");
}

async function sendFailure(
  url: string,
  token: string,
  failed: Ran & { level: number; command: string; words: readonly string[] },
): Promise<void> {
  const { level, code, command, said } = failed;
  const line = [command, ...failed.words].join(" ");
  const body = {
    message: cut(`${command} failed with exit code ${code}`, eventLimits.message),
    level,
    keys: {
      command: cut(line, eventLimits.value),
      exit_code: code,
      host: hostname(),
    },
    tags: ["run"],
    details: said,
  };
  const reply = await request(url, { method: "POST", path: "/v1/ingest", token, body });
  if (reply.status !== 202) throw new RefusedError(reply);
}

/** A heartbeat's address, without a slash at its end. Throws CommandError. */
function pingUrl(text: string): URL {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))
    return new URL(text.replace(/\/+$/, ""));
  throw new CommandError(
    "--heartbeat must be the address that box heartbeat add printed",
    exitCodes.usage,
  );
}

async function ping(heartbeat: URL, word: string, said: string): Promise<void> {
  const path = heartbeat.pathname + word;
  const body = said === "" ? {} : { body: said };
  const reply = await request(heartbeat.origin, { method: "POST", path, ...body });
  if (reply.status >= 300)
    throw new CommandError(`the heartbeat answered ${reply.status}: ${reply.text}`);
}

const TRIES = 3;

/** Reports to the box. A failure of that is printed here, and doesn't change the exit code of the command. */
async function told(tell: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await tell();
      return;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      if (tries === TRIES) {
        terminal().stderr.write(`box: could not be reached: ${error.message}\n`);
        return;
      }
      await sleep(systemClock, tries * 1000);
    }
  }
}
