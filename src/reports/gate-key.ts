import { getMeta, setMeta } from "../store/meta.ts";
import type { Reader, Tx } from "../store/store.ts";

/**
 * The key that cookies of gated reports are made with: 32 random bytes of the store's own, made with
 * its first password and kept, because a cookie outlasts a restart. Not sealed: who can read it where
 * it lies reads the reports themselves beside it.
 */
export function ensureGateKey(tx: Tx): void {
  if (getMeta(tx, "gate_key") === undefined)
    setMeta(tx, "gate_key", tx.random.bytes(32).toString("base64url"));
}

/** Throws where no report ever had a password. */
export function gateKey(reader: Reader): Buffer {
  const kept = getMeta(reader, "gate_key");
  if (kept === undefined) throw new Error("there is a password and no key for its cookies");
  return Buffer.from(String(kept), "base64url");
}
