import type { DirectMessage } from "../../src/out/services/direct-message.ts";
import { eventBody } from "./events.ts";
import { hostileTexts } from "./rooms.ts";

/** A page about one alert, with changes. */
export function directMessage(changes: Partial<DirectMessage> = {}): DirectMessage {
  return {
    purpose: "page",
    id: "pg_1",
    level: 500,
    code: null,
    events: [eventBody()],
    said: null,
    title: "ALERT: shop · Payments failing",
    lines: ["Payment 42 failed for bob", "critical · 12 events"],
    link: "https://box.example/a/7",
    ack: { url: "https://box.example/ack/canary-capability", handle: "k3v9x2m7q4t8" },
    ...changes,
  };
}

/** A code that proves an address. */
export const codeMessage = directMessage({
  purpose: "code",
  level: 0,
  code: "402913",
  events: [],
  lines: [],
  link: null,
  ack: null,
  title: "Your code is 402913",
});

/** Messages of every purpose, with whatever a log line may hold in each of their texts. */
export function hostileMessages(): DirectMessage[] {
  return hostileTexts.flatMap((text) =>
    (["page", "note", "test"] as const).map((purpose) =>
      directMessage({ purpose, title: text.slice(0, 300).toWellFormed(), lines: [text, text] }),
    ),
  );
}
