import { resolve } from "node:path";

/** Quotes a word for a shell where it needs quotes. */
export function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A command on a data directory, to be pasted into a shell in any folder. */
export const commandAt = (command: string, data: string): string =>
  `box ${command} --data ${shellQuoted(resolve(data))}`;
