const WORDS: Readonly<Record<number, string>> = {
  500: "critical crit fatal emergency emerg panic alert disaster page p1 sev0 blocker",
  400: "error err high major severe p2 sev1 failure failed down",
  300: "warning warn minor medium moderate average p3 sev2 degraded unknown insufficient_data",
  200: "info information informational notice low none ok okay normal p4 sev3 p5 success up",
  100: "debug trace verbose sev4",
};

const levels = new Map(
  Object.entries(WORDS).flatMap(([level, words]) =>
    words.split(" ").map((word) => [word, Number(level)] as const),
  ),
);

/** The level of a severity word in any case; null for an unknown word. */
export function levelOfWord(word: string): number | null {
  return levels.get(word.trim().toLowerCase()) ?? null;
}

/** The level of an alert whose sender names no severity, or an unknown one: somebody should look. */
export const ALERT_LEVEL = 400;
