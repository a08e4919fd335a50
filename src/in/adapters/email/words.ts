/** Words that say a state, and what makes one of them doubtful (contract §23). */

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

/** What may also be said of a door or a valve: an end only in brackets, or before a colon. */
const WEAK = new Set(["CLEAR", "CLOSED"]);

/** Words, those that belong together as one. */
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

/** Beside a word for the end in its brackets it is how bad it was: `[RESOLVED - Warning]`. */
export const SEVERITY =
  /\b(?:critical|crit|warning|warn|error|unknown|major|minor|high|medium|low|info|sev ?\d|p\d)\b/gi;

const GOOD = /[🟢✅💚☑✔🆗]/u;
const BAD = /[🔴❌🚨⛔🛑🔥⚠🟠🟡🟥🔶❗‼🆘💔✖]/u;

/** What a coloured circle, or a sign like it, says before the first letter; null where there is none. */
export function colourOf(text: string): "over" | "trouble" | null {
  const [before = ""] = /^[^\p{L}\p{N}]*/u.exec(text) ?? [];
  if (BAD.test(before)) return "trouble";
  return GOOD.test(before) ? "over" : null;
}

/** Words, in some languages, that turn what is said around. */
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

/** The words right before a state that deny it; empty where none do. */
export function deniedBefore(before: string): string {
  return DENIED_BEFORE.exec(before)?.[0] ?? "";
}

/** Whether something in its clause speaks against a state: a negation, a part of a whole, a question, a share. */
export function isDoubtful(clause: string): boolean {
  if (/[?%]/.test(clause) || ZERO.test(clause) || DENIED.test(clause)) return true;
  const [, some = "0", all = "0"] = PART.exec(clause) ?? [];
  return Number(some) < Number(all);
}

const CLAUSE_ENDS = /[[\]()|;!*]|[.:](?=\s|$)|\s[-–—]\s/g;

/** The clause of `text` that holds the place, without what stands in brackets or behind a colon. */
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
