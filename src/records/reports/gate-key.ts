import type { Sealer } from "../../ground/kit/sealer.ts";
import { getMeta, setMeta } from "../../ground/store/meta.ts";
import type { Reader, Store } from "../../ground/store/store.ts";

const PLACE = "meta.gate_key";

/**
 * The key that cookies of gated reports are made with; null before the first. It is kept, because a
 * cookie outlasts a restart, and sealed, so that a backup that went astray opens no page. Where it
 * can't be opened any more there is none: readers enter their password once more.
 */
export function gateKey(reader: Reader, sealer: Sealer): Buffer | null {
  const sealed = getMeta(reader, "gate_key");
  const text = sealed === undefined ? null : sealer.open(String(sealed), PLACE);
  return text === null ? null : Buffer.from(text, "base64url");
}

/** The key, made where there is none: 32 random bytes. */
export function ensureGateKey(store: Store, sealer: Sealer): Buffer {
  const known = gateKey(store, sealer);
  if (known !== null) return known;
  const key = store.random.bytes(32);
  store.write((tx) => setMeta(tx, "gate_key", sealer.seal(key.toString("base64url"), PLACE)));
  return key;
}
