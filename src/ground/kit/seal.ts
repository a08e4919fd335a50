import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import type { KeyRing, SealingKey } from "./key-ring.ts";

/**
 * Encrypts stored secrets: AES-256-GCM, `v1.<key id>.<nonce>.<ciphertext>.<tag>`, the last three in base64url (contract
 * §2). Each value names its key, so several keys can be in use.
 */

/** Why a sealed value can't be opened. `unknown_key`: its key isn't on the ring. */
type OpenFailure = "malformed" | "unknown_key" | "damaged";

export type Opened =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: OpenFailure };

const SEALED = /^v1\.([0-9a-f]{16})\.([\w-]{16})\.([\w-]*)\.([\w-]{22})$/;
const CIPHER = "aes-256-gcm";
const TAG_BYTES = 16;

/**
 * Encrypts `text` with the ring's present key. `context` names the place where it is stored (table, column, row id): it
 * can't be opened for another place.
 */
export function seal(ring: KeyRing, text: string, context: string): string {
  const { id, bytes } = ring.present;
  const nonce = ring.random.bytes(12);
  const cipher = createCipheriv(CIPHER, bytes, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(associated(id, context));
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  const parts = [nonce, sealed, cipher.getAuthTag()].map((part) => part.toString("base64url"));
  return `v1.${id}.${parts.join(".")}`;
}

/** Opens a value sealed for the same place. A failure is returned, not thrown: the box goes on without the value. */
export function open(ring: KeyRing, sealed: string, context: string): Opened {
  const [, id = "", nonce = "", body = "", tag = ""] = SEALED.exec(sealed) ?? [];
  if (id === "") return { ok: false, reason: "malformed" };
  const key = ring.keys.get(id);
  if (key === undefined) return { ok: false, reason: "unknown_key" };
  const text = decrypt({ key, nonce, body, tag, context });
  return text === null ? { ok: false, reason: "damaged" } : { ok: true, text };
}

/**
 * A signature of `text`: 128 bits in base64url. Each purpose has its own key, derived from the sealing key (RFC 5869),
 * so a signature for one purpose is worth nothing for another.
 */
export function mac(key: SealingKey, purpose: string, text: string): string {
  const own = Buffer.from(hkdfSync("sha256", key.bytes, "", `box ${purpose}`, 32));
  return createHmac("sha256", own).update(text).digest().subarray(0, 16).toString("base64url");
}

/** The id of the key that a sealed value needs; null for other text. */
export function keyIdOf(sealed: string): string | null {
  return SEALED.exec(sealed)?.[1] ?? null;
}

interface Sealed {
  key: SealingKey;
  nonce: string;
  body: string;
  tag: string;
  context: string;
}

function decrypt({ key, nonce, body, tag, context }: Sealed): string | null {
  const options = { authTagLength: TAG_BYTES };
  const cipher = createDecipheriv(CIPHER, key.bytes, Buffer.from(nonce, "base64url"), options);
  cipher.setAAD(associated(key.id, context));
  cipher.setAuthTag(Buffer.from(tag, "base64url"));
  try {
    return cipher.update(body, "base64url", "utf8") + cipher.final("utf8");
  } catch {
    return null;
  }
}

function associated(keyId: string, context: string): Buffer {
  return Buffer.from(`v1.${keyId}.${context}`);
}
