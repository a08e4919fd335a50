import { getMeta, setMeta } from "../../ground/store/meta.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";

/** What a relay answered to one event: how many phones it paged, and of whom it was asked. */
export interface Paged {
  devices: number;
  /** Box account ids; null: everybody who is paired. */
  accounts: readonly string[] | null;
}

/** Whom the relay said that it paged nobody for, and since when (Unix seconds). */
export interface RelaySilence {
  /** Nobody at all is paired with a phone; null: not known. */
  all: number | null;
  accounts: ReadonlyMap<string, number>;
}

/** Stands for everybody; no account has this id. */
const ALL = "*";

/**
 * Remembers whom the relay has no phone of. An answer that paged somebody takes the word back for those that it
 * must have been: one phone of two people says nothing of either.
 */
export function recordPaged(tx: Tx, { devices, accounts }: Paged): void {
  const before = read(tx);
  const after = { ...before };
  if (devices === 0) for (const account of accounts ?? [ALL]) after[account] ??= tx.at;
  else {
    delete after[ALL];
    if (accounts !== null && devices >= accounts.length)
      for (const account of accounts) delete after[account];
  }
  if (Object.keys(before).length !== Object.keys(after).length)
    setMeta(tx, "relay_silent", JSON.stringify(after));
}

/** Another relay, or none: nothing is known of it. */
export function forgetSilence(tx: Tx): void {
  setMeta(tx, "relay_silent", "{}");
}

export function readSilence(reader: Reader): RelaySilence {
  const { [ALL]: all = null, ...accounts } = read(reader);
  return { all, accounts: new Map(Object.entries(accounts)) };
}

function read(reader: Reader): Record<string, number> {
  return JSON.parse(String(getMeta(reader, "relay_silent") ?? "{}")) as Record<string, number>;
}
