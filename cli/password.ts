import { readText } from "./files.ts";
import { ask } from "./prompt.ts";

/** The content of `--password-file` without its line end. Without that flag the person at the terminal is asked. */
export async function givenPassword(file: string | undefined, question: string): Promise<string> {
  if (file === undefined) return ask(question, "--password-file is needed", { hidden: true });
  return (await readText(file)).replace(/\r?\n$/, "");
}
