import { createCipheriv, createECDH, createPrivateKey, hkdfSync, sign } from "node:crypto";
import type { Random } from "../../../ground/kit/random.ts";

/**
 * Encryption of push messages (RFC 8291, `aes128gcm` of RFC 8188) and the sender's own name for itself (VAPID, RFC
 * 8292). Keys are base64url: private ones 32 bytes, public ones the 65 of an uncompressed point of P-256.
 */

/** What a browser gave. */
export interface PushKeys {
  p256dh: string;
  auth: string;
}

/** A key pair that push services know the box by. */
export type VapidKeys = ReturnType<typeof mintVapidKeys>;

const RECORD = 4_096;
const PUBLIC_KEY = 65;
const TAG = 16;

/** The longest message in bytes: one record holds it with its header, its end mark and its tag. */
export const LONGEST_PAYLOAD = RECORD - (16 + 4 + 1 + PUBLIC_KEY) - 1 - TAG;

/** The body of a push, under a key made for it alone. Throws where the browser's keys are none, or it is too long. */
export function encryptPush(plain: Uint8Array, { p256dh, auth }: PushKeys, random: Random): Buffer {
  if (plain.length > LONGEST_PAYLOAD) throw new RangeError("a push that is too long");
  const salt = random.bytes(16);
  const theirs = Buffer.from(p256dh, "base64url");
  const ours = newPair(random);
  const point = ours.getPublicKey();
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), theirs, point]);
  const shared = hkdfSync(
    "sha256",
    ours.computeSecret(theirs),
    Buffer.from(auth, "base64url"),
    info,
    32,
  );
  const derived = (what: string, bytes: number) =>
    Buffer.from(
      hkdfSync("sha256", Buffer.from(shared), salt, `Content-Encoding: ${what}\0`, bytes),
    );
  const cipher = createCipheriv("aes-128-gcm", derived("aes128gcm", 16), derived("nonce", 12));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(RECORD);
  head.writeUInt8(PUBLIC_KEY, 4);
  // 2: the last record.
  const sealed = [cipher.update(plain), cipher.update(Buffer.of(2)), cipher.final()];
  return Buffer.concat([salt, head, point, ...sealed, cipher.getAuthTag()]);
}

export function mintVapidKeys(random: Random) {
  const pair = newPair(random);
  // It gives a key that begins with zeros without them.
  const key = pair.getPrivateKey();
  const whole = Buffer.concat([Buffer.alloc(32 - key.length), key]);
  return { public_key: pair.getPublicKey("base64url"), private_key: whole.toString("base64url") };
}

/** Whether they are a pair. */
export function areVapidKeys({ public_key, private_key }: VapidKeys): boolean {
  const pair = createECDH("prime256v1");
  try {
    pair.setPrivateKey(Buffer.from(private_key, "base64url"));
  } catch {
    return false;
  }
  return pair.getPublicKey("base64url") === public_key;
}

/** One in four thousand million numbers is no private key. */
function newPair(random: Random) {
  const pair = createECDH("prime256v1");
  for (;;) {
    try {
      pair.setPrivateKey(random.bytes(32));
      return pair;
    } catch {}
  }
}

/** Push services take a day at most. */
const TOKEN_SECONDS = 12 * 3_600;

/** The value of `Authorization`. `subject`: `mailto:` or `https:`, whom to write to when something goes wrong. */
export function vapidHeader(
  keys: VapidKeys,
  { endpoint, subject, now }: { endpoint: string; subject: string; now: number },
): string {
  const written = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const exp = Math.floor(now / 1_000) + TOKEN_SECONDS;
  const claims = { aud: new URL(endpoint).origin, exp, sub: subject };
  const text = `${written({ typ: "JWT", alg: "ES256" })}.${written(claims)}`;
  const point = Buffer.from(keys.public_key, "base64url");
  const key = createPrivateKey({
    format: "jwk",
    key: {
      kty: "EC",
      crv: "P-256",
      d: keys.private_key,
      x: point.subarray(1, 33).toString("base64url"),
      y: point.subarray(33).toString("base64url"),
    },
  });
  const signed = sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
  return `vapid t=${text}.${signed.toString("base64url")}, k=${keys.public_key}`;
}
