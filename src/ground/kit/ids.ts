import { hash, timingSafeEqual } from "node:crypto";
import type { Random } from "./random.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** 16 lower-case hex characters: the id of an action, integration, schedule, account … (contract §2). */
export function hexId(random: Random): string {
  return random.bytes(8).toString("hex");
}

/** 48 lower-case hex characters, 192 bits: a pairing code or a receipt. */
export function hexSecret(random: Random): string {
  return random.bytes(24).toString("hex");
}

/** Base62 characters, by default 43 (256 bits). Every character is equally likely. */
export function base62Secret(random: Random, length = 43): string {
  let text = "";
  while (text.length < length) {
    for (const byte of random.bytes(64)) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

/** A random UUID, version 4 (RFC 9562). */
export function uuid4(random: Random): string {
  const b = random.bytes(16);
  b.writeUInt8((b.readUInt8(6) & 0x0f) | 0x40, 6);
  b.writeUInt8((b.readUInt8(8) & 0x3f) | 0x80, 8);
  return asUuid(b.toString("hex"));
}

/** The UUID of a text: always the same for the same text. The text can't be calculated from it. */
export function uuidOf(text: string): string {
  const h = sha256(text);
  // Version 8 is for custom use.
  return asUuid(`${h.slice(0, 12)}8${h.slice(13, 16)}a${h.slice(17, 32)}`);
}

function asUuid(h: string): string {
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-${h.slice(12, 16)}-${h.slice(16, 20)}-${h.slice(20)}`;
}

/** SHA-256 of the text's UTF-8 bytes, in lower-case hex. Random secrets are stored like this. */
export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** Whether two secrets are equal. Takes the same time for every pair. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(hash("sha256", a, "buffer"), hash("sha256", b, "buffer"));
}

/** The three kinds of token (contract §16): API key, ingest token, session. */
type TokenPlane = "ptk" | "pti" | "pts";

const TENANT_TOKEN = /^(ptk|pti)_([0-9a-f]{16})_([0-9A-Za-z]{43})$/;
const SESSION_TOKEN = /^pts_[0-9A-Za-z]{43}$/;

interface ParsedToken {
  plane: TokenPlane;
  /** The tenant's part; empty for a session token. */
  tenant: string;
}

/** Parses a bearer token; null when it has none of the three forms. */
export function parseToken(token: string): ParsedToken | null {
  const tenant = TENANT_TOKEN.exec(token);
  if (tenant) return { plane: tenant[1] as TokenPlane, tenant: tenant[2] as string };
  return SESSION_TOKEN.test(token) ? { plane: "pts", tenant: "" } : null;
}
