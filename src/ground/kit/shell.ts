import { resolve } from "node:path";

/** A word for a shell, as it is where it needs no quotes. */
export function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A command on a data directory, to be pasted into a shell wherever that stands. */
export const commandAt = (command: string, data: string): string =>
  `box ${command} --data ${shellQuoted(resolve(data))}`;
