import { PassThrough, Readable } from "node:stream";
import { runProgram } from "../../cli/box.ts";
import { createProgram } from "../../cli/program.ts";
import { onTerminal } from "../../cli/terminal.ts";

/** How a command ended and what it said. */
export interface Said {
  code: number;
  out: string;
  err: string;
}

/** Made once: commander puts a command's options back before it parses again. */
const program = createProgram();

/**
 * Runs `box …` in this process, on an environment of its own (HOME, PATH and the clock of UTC alone unless told otherwise):
 * a process takes half a second on a busy machine, and most commands need none.
 */
export async function box(
  words: readonly (string | number)[],
  { env = {}, input = "" }: { env?: Record<string, string>; input?: string } = {},
): Promise<Said> {
  const said = { out: "", err: "" };
  const pipe = (name: "out" | "err") => {
    const stream = new PassThrough();
    stream.on("data", (chunk) => (said[name] += chunk));
    return stream;
  };
  const usual = { HOME: "/nonexistent", PATH: process.env["PATH"] ?? "", TZ: "UTC" };
  const terminal = {
    env: { ...usual, ...env },
    stdin: Readable.from(input === "" ? [] : [input]),
    stdout: pipe("out"),
    stderr: pipe("err"),
  };
  // Commander reads flags' environment twins from the process, while it parses and before it waits.
  const own = process.env;
  process.env = terminal.env;
  const running = onTerminal(terminal, () => runProgram(program, words.map(String)));
  process.env = own;
  const code = await running;
  await new Promise(setImmediate);
  return { code, ...said };
}

/** Runs `box … --json` and returns what it answers; throws what it says when it fails. */
export async function boxAnswer(
  words: readonly (string | number)[],
  how: { env?: Record<string, string>; input?: string } = {},
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
): Promise<any> {
  const { code, out, err } = await box([...words, "--json"], how);
  if (code !== 0) throw new Error(`box ${words.join(" ")}: ${code}\n${err}${out}`);
  return JSON.parse(out);
}
