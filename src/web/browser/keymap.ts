/*
 * What a key is called and what it does. Pure.
 */
export interface Press {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** As `data-key` writes it: `a`, `X`, `?`, `Escape`, `Ctrl S` (also for a Mac's ⌘); null for what isn't ours. */
export function pressName({ key, ctrlKey, metaKey, altKey }: Press): string | null {
  if (altKey || key === "Dead" || key === "Unidentified") return null;
  if (!ctrlKey && !metaKey) return key === " " ? "Space" : key;
  return `Ctrl ${key.length === 1 ? key.toUpperCase() : key}`;
}

/** Whether it is a letter or sign without Ctrl, alone or one after another: what may be turned off (WCAG 2.1.4). */
export const isLetterKey = (name: string): boolean =>
  !name.startsWith("Ctrl ") && name.split(" ").every((part) => [...part].length === 1);

/** What a press does, and what it begins: `g` waits for the second key of `g a`. */
export function nextPress(begun: string | null, name: string, known: ReadonlySet<string>) {
  const pair = begun === null ? null : `${begun} ${name}`;
  if (pair !== null && known.has(pair)) return { does: pair, begun: null };
  const begins = [...known].some((one) => !one.startsWith("Ctrl ") && one.startsWith(`${name} `));
  if (begins) return { does: null, begun: name };
  return { does: known.has(name) ? name : null, begun: null };
}
