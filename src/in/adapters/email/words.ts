/** State words, and what makes them doubtful (contract §23). */

export type SubjectWord = "over" | "trouble" | "seen" | "none";

const STATES = new Map<string, SubjectWord>([
  ...words("OK OKAY UP RECOVERY RECOVERED RESOLVED RESOLVE CLEARED CLEAR CLOSED", "over"),
  ...words(
    "PROBLEM DOWN FIRING FIRED ALARM ALERTING TRIGGERED RE-TRIGGERED OPEN TROUBLE",
    "trouble",
  ),
  ...words("CRITICAL CRIT WARNING WARN UNKNOWN UNREACHABLE UNREACH DEGRADED ERROR", "trouble"),
  ...words("FAILED FAILURE INSUFFICIENT_DATA NO_DATA FLAPPING FLAPPINGSTART", "trouble"),
  ...words("ACKNOWLEDGEMENT ACKNOWLEDGED", "seen"),
  ...words("ALERT UPDATED CUSTOM FLAPPINGSTOP FLAPPINGEND FLAPPINGDISABLED", "none"),
  ...words("DOWNTIMESTART DOWNTIMEEND DOWNTIMEREMOVED DOWNTIMECANCELLED", "none"),
]);

/** Words that also describe a door or a valve: an end only in brackets, or before a colon. */
const WEAK = new Set(["CLEAR", "CLOSED"]);

/** Words; those that belong together count as one. */
export const SUBJECT_WORDS = /\bno[ -]data\b|\bre-triggered\b|\p{L}+(?:_\p{L}+)*/giu;

function words(text: string, state: SubjectWord): [string, SubjectWord][] {
  return text.split(" ").map((word) => [word, state]);
}

export function stateOfWord(word: string): SubjectWord | undefined {
  return STATES.get(word.toUpperCase().replace(/^NO[ -]/, "NO_"));
}

export function isWeak(word: string): boolean {
  return WEAK.has(word.toUpperCase());
}

/** In brackets with a word for the end, it is the former severity: `[RESOLVED - Warning]`. */
export const SEVERITY =
  /\b(?:critical|crit|warning|warn|error|unknown|major|minor|high|medium|low|info|sev ?\d|p\d)\b/gi;

const GOOD = /[🟢✅💚☑✔🆗]/u;
const BAD = /[🔴❌🚨⛔🛑🔥⚠🟠🟡🟥🔶❗‼🆘💔✖]/u;

/** The state of a coloured circle, or a similar sign, before the first letter; null for none. */
export function colourOf(text: string): "over" | "trouble" | null {
  const [before = ""] = /^[^\p{L}\p{N}]*/u.exec(text) ?? [];
  if (BAD.test(before)) return "trouble";
  return GOOD.test(before) ? "over" : null;
}

/** Words of negation, in several languages. */
const NEGATIONS =
  "not|no|never|none|nothing|nobody|nor|neither|without|cannot|hardly|barely|only|partly|partially|almost|nearly|except|but|if|when|until|unless|should|would|will|must|may|might|maybe|probably|expected|waiting|unable|" +
  "nicht|kein|keine|keiner|keines|nie|nichts|niemals|ohne|nur|ne|pas|aucun|aucune|jamais|rien|nunca|nada|ning[uú]n|sin|non|nessun|nessuna|niet|geen|nooit|nem|não|n[aã]o";
const DENIED = new RegExp(
  `(?<![\\p{L}\\p{N}_-])(?:${NEGATIONS}|\\p{L}+n['’]t)(?![\\p{L}\\p{N}_-])`,
  "iu",
);
const DENIED_BEFORE =
  /(?:\b(?:not|no longer|never|nicht|kein|keine|pas|niet)|\p{L}+n['’]t)(?:\s+\p{L}+){0,2}\s*$/iu;
/** `0 of 3`, `2/3`, `0 nodes`. */
const PART = /(?<![\w.:/-])(\d{1,6})\s*(?:of|out of|von|sur|de|\/)\s*(\d{1,6})(?![\w/])/i;
const ZERO = /(?<![\w.:/-])0 (?!is\b)/;

/** The negation right before a state word; empty for none. */
export function deniedBefore(before: string): string {
  return DENIED_BEFORE.exec(before)?.[0] ?? "";
}

/** Whether a clause speaks against a state: by a negation, a part of a whole, a question, or a percentage. */
export function isDoubtful(clause: string): boolean {
  if (/[?%]/.test(clause) || ZERO.test(clause) || DENIED.test(clause)) return true;
  const [, some = "0", all = "0"] = PART.exec(clause) ?? [];
  return Number(some) < Number(all);
}

const CLAUSE_ENDS = /[[\]()|;!*]|[.:](?=\s|$)|\s[-–—]\s/g;

/** The clause of `text` around the place, without brackets and without what follows a colon. */
export function clauseAt(text: string, from: number, to: number): string {
  let begin = 0;
  let end = text.length;
  for (const { index, 0: mark } of text.matchAll(CLAUSE_ENDS)) {
    if (index + mark.length <= from) begin = index + mark.length;
    else if (index >= to) {
      end = index;
      break;
    }
  }
  return text.slice(begin, end);
}
