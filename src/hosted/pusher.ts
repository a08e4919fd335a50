import type { Clock } from "../ground/kit/clock.ts";
import { ApnsClient, type ApnsPush } from "./apns.ts";
import type { PushResult } from "./apns-answer.ts";
import { providerToken, readApnsKey } from "./apns-token.ts";
import type { PushCounts } from "./push-counts.ts";
import type { Apns, StoredApns } from "./registry/apns-settings.ts";

/** Sends notifications to phones. */
export interface Pusher {
  /** Never rejects. */
  push(push: ApnsPush): Promise<PushResult>;
  close(): void;
}

type Line = { client: ApnsClient } | { why: string };

interface PusherOptions {
  apns: Apns;
  clock: Clock;
  /** Called once for each push. */
  counted?: PushCounts["add"];
}

/** Pushes through APNs with the registry's settings, which may change at any time. */
export function openPusher(options: PusherOptions): Pusher {
  const { counted = () => {} } = options;
  let version = -1;
  let line: Promise<Line> | null = null;
  let closed = false;

  const hangUp = () => {
    line?.then(
      (old) => "client" in old && old.client.close(),
      () => {},
    );
  };

  const current = async (): Promise<Line> => {
    const wanted = await options.apns.version();
    if (line === null || wanted !== version) {
      hangUp();
      version = wanted;
      line = open(options);
    }
    try {
      return await line;
    } catch (error) {
      line = null;
      throw error;
    }
  };

  return {
    async push(push) {
      const { since = options.clock.mono() } = push;
      if (closed) {
        counted("closing");
        return { kind: "retry", why: "shutting down", retryAfter: null };
      }
      try {
        const now = await current();
        if ("client" in now) return await now.client.push({ ...push, since });
        counted("unset");
        return { kind: "misconfigured", why: now.why };
      } catch {
        counted("away");
        // An error here must not hide the results of the page's other phones.
        return { kind: "retry", why: "the APNs settings can't be read", retryAfter: null };
      }
    },
    close() {
      closed = true;
      hangUp();
    },
  };
}

async function open(options: PusherOptions): Promise<Line> {
  const stored = await options.apns.get();
  if (stored.kind === "none") return { why: "no APNs key is set" };
  if (stored.kind === "unreadable") return { why: "the APNs key can't be decrypted: set it again" };
  return connectTo(stored, options);
}

function connectTo(
  { settings, version }: StoredApns & { kind: "set" },
  { apns, clock, counted }: PusherOptions,
): Line {
  const key = readApnsKey(settings.key);
  if (key === null) return { why: "the APNs key is no P-256 private key" };
  const { keyId, teamId, endpoint, topic } = settings;
  const provider = providerToken({ key, keyId, teamId, version, tokens: apns, clock });
  const client = new ApnsClient({
    endpoint,
    ca: settings.ca ?? undefined,
    topic,
    provider,
    clock,
    ...(counted && { counted }),
  });
  return { client };
}
