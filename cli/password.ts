import { readText } from "./files.ts";
import { ask } from "./prompt.ts";

/** What `--password-file` holds, without its line's end; without one the person at the terminal is asked. */
export async function givenPassword(file: string | undefined, question: string): Promise<string> {
  if (file === undefined) return ask(question, "--password-file is needed", { hidden: true });
  return (await readText(file)).replace(/\r?\n$/, "");
}
