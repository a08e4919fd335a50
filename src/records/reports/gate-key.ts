import type { Sealer } from "../../ground/kit/sealer.ts";
import { getMeta, setMeta } from "../../ground/store/meta.ts";
import type { Reader, Store } from "../../ground/store/store.ts";

const PLACE = "meta.gate_key";

/**
 * The key that signs the cookies of reports with a password; null before there is one. It is stored, because a cookie
 * outlasts a restart, and sealed, so that a stolen backup opens no report. Where it can't be opened it counts as
 * missing, and readers enter their password again.
 */
export function gateKey(reader: Reader, sealer: Sealer): Buffer | null {
  const sealed = getMeta(reader, "gate_key");
  const text = sealed === undefined ? null : sealer.open(String(sealed), PLACE);
  return text === null ? null : Buffer.from(text, "base64url");
}

/** The key; makes it (32 random bytes) where there is none. */
export function ensureGateKey(store: Store, sealer: Sealer): Buffer {
  const known = gateKey(store, sealer);
  if (known !== null) return known;
  const key = store.random.bytes(32);
  store.write((tx) => setMeta(tx, "gate_key", sealer.seal(key.toString("base64url"), PLACE)));
  return key;
}
