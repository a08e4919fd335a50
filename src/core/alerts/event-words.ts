const NEWS: Readonly<Record<string, string>> = {
  "alert.opened": "its opening",
  "alert.escalated": "a rung of the ladder",
  "alert.renotified": "it once more",
  "alert.acknowledged": "who has it",
  "alert.resolved": "its end",
  "alert.test": "a test",
  "integration.disabled": "a channel that is off",
};

/** What a channel is told of by an event: "told of its opening". */
export const newsWords = (event: string): string => NEWS[event] ?? event;
