import { createDecipheriv, createECDH, hkdfSync } from "node:crypto";
import type { SeenPush } from "./evidence.ts";

/** A browser with a push subscription (RFC 8291). It decrypts what its service worker would get. */
export type PushedBrowser = ReturnType<typeof browser>;

/** Lengths in bytes of what precedes the text of an encrypted push. */
const SALT = 16;
const HEAD = 86;
const TAG = 16;

const authSecret = Buffer.from("canary-auth-0123");

export function browser() {
  const pair = createECDH("prime256v1");
  const point = pair.generateKeys();
  return {
    /** The subscription in the form of the Push API. */
    subscription: (endpoint: string) => ({
      endpoint,
      keys: { p256dh: point.toString("base64url"), auth: authSecret.toString("base64url") },
    }),
    /** The pushed text. Throws where the push isn't for this browser. */
    open(body: Buffer): string {
      const salt = body.subarray(0, SALT);
      if (body.readUInt32BE(16) !== 4_096 || body.readUInt8(20) !== 65) throw new Error("record");
      const sender = body.subarray(21, HEAD);
      const info = Buffer.concat([Buffer.from("WebPush: info\0"), point, sender]);
      const key = hkdfSync("sha256", pair.computeSecret(sender), authSecret, info, 32);
      const derive = (what: string, bytes: number) =>
        Buffer.from(
          hkdfSync("sha256", Buffer.from(key), salt, `Content-Encoding: ${what}\0`, bytes),
        );
      const open = createDecipheriv("aes-128-gcm", derive("aes128gcm", 16), derive("nonce", 12));
      open.setAuthTag(body.subarray(-TAG));
      const plain = Buffer.concat([open.update(body.subarray(HEAD, -TAG)), open.final()]);
      if (plain.at(-1) !== 2) throw new Error("the last record has no end");
      return plain.subarray(0, -1).toString();
    },
  };
}

/** In a list of alerts each line begins with an id. */
const NAMED = /^(\d+): /gm;

/** A push, decrypted by its browser. `plain`: null where that failed. */
export function pushOf(plain: string | null, arrived: { device: number; at: number }): SeenPush {
  const push = {
    ...arrived,
    isRead: plain !== null,
    isPage: false,
    alertIds: [] as string[],
    more: 0,
    wasTaken: false,
  };
  if (plain === null) return push;
  const { notification } = JSON.parse(plain) as {
    notification: { title: string; body: string; data: { kind: string; alert: string | null } };
  };
  const { title, body, data } = notification;
  const isPage = data.kind === "page";
  if (data.alert !== null) return { ...push, isPage, alertIds: [data.alert] };
  const alertIds = [...body.matchAll(NAMED)].flatMap(([, id]) => id ?? []);
  const all = Number(/^(\d+) alerts: /.exec(title)?.[1] ?? 0);
  return { ...push, isPage, alertIds, more: Math.max(0, all - alertIds.length) };
}
