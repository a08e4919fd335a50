/** What may name people or places inside the company, and what is still to be written. Pure. */

const ADDRESSES: readonly RegExp[] = [
  /[^\s@<>()]+@[^\s@<>()]+\.[a-z]{2,}/i, // e-mail
  /\b\d{1,3}(?:\.\d{1,3}){3}\b/, // IPv4
  /\b[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){3,}\b/i, // IPv6
  /\+\d[\d ()/-]{6,}\d/, // a phone's number
  /\bhttps?:\/\//i,
  /\b[\w-]+(?:\.[\w-]+)*\.(?:local|internal|lan|corp|intern|home)\b/i, // a name within the company
];

/** Shorter names are words, too. */
const SHORTEST_NAME = 3;

/** The lines of a text, from nought, that name somebody of `names` or an address, or that are still to be written (`…`). */
export function linesToTouch(text: string, names: readonly string[]): number[] {
  const known = names
    .filter((name) => [...name].length >= SHORTEST_NAME)
    .map((name) => new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(name)}(?![\\p{L}\\p{N}])`, "iu"));
  const isOne = (line: string) =>
    line.trimEnd().endsWith("…") || [...ADDRESSES, ...known].some((what) => what.test(line));
  return text.split("\n").flatMap((line, at) => (isOne(line) ? [at] : []));
}
