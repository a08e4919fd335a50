import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { CommandError, exitCodes } from "./exit.ts";
import { readText } from "./files.ts";
import { terminal } from "./terminal.ts";

/** Asks the person at the terminal; `hidden` shows nothing of the input. Without a terminal it throws `otherwise`. */
export async function ask(
  question: string,
  otherwise: string,
  { hidden = false } = {},
): Promise<string> {
  const { stdin, stderr } = terminal();
  if (!stdin.isTTY) throw new CommandError(otherwise, exitCodes.usage);
  stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: stdin,
    output: hidden ? nowhere : stderr,
    terminal: true,
  });
  try {
    return await lines.question("");
  } finally {
    lines.close();
    if (hidden) stderr.write("\n");
  }
}

/** The content of `--password-file` without its line end. Without that flag the person at the terminal is asked. */
export async function givenPassword(file: string | undefined, question: string): Promise<string> {
  if (file === undefined) return ask(question, "--password-file is needed", { hidden: true });
  return (await readText(file)).replace(/\r?\n$/, "");
}
