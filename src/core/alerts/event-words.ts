const NEWS: Readonly<Record<string, string>> = {
  "alert.opened": "that it opened",
  "alert.escalated": "that somebody is paged",
  "alert.renotified": "again that it is open",
  "alert.acknowledged": "who has it",
  "alert.resolved": "that it is over",
  "alert.test": "by a test",
  "integration.disabled": "that a channel is off",
};

/** What a channel is told of by an event: "told that it opened". */
export const newsWords = (event: string): string => NEWS[event] ?? `of ${event}`;
