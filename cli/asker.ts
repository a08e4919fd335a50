import { createInterface, type Interface } from "node:readline";
import { CommandError, exitCodes } from "./exit.ts";
import { ask } from "./prompt.ts";
import { terminal } from "./terminal.ts";

/** Answers a command's questions: a person at the terminal, or standard input with a line for each. */
export type Asker = ReturnType<typeof createAsker>;

export function createAsker() {
  const { stdin, stderr } = terminal();
  let input: Interface | null = null;
  let lines: AsyncIterator<string> | null = null;
  return {
    /** The answer, trimmed. Where there is none, throws wrong usage with the text `otherwise`. */
    async ask(
      question: string,
      otherwise: string,
      how: { hidden?: boolean } = {},
    ): Promise<string> {
      if (stdin.isTTY) return (await ask(question, otherwise, how)).trim();
      input ??= createInterface({ input: stdin });
      lines ??= input[Symbol.asyncIterator]();
      stderr.write(`${question}\n`);
      const { done, value } = await lines.next();
      if (done) throw new CommandError(otherwise, exitCodes.usage);
      return value.trim();
    },
    close: () => input?.close(),
  };
}
