/** Marks in a mail's subject: state words, coloured circles, and what makes them doubtful (contract §23). */

type SubjectWord = "over" | "trouble" | "seen" | "none";

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
const SUBJECT_WORDS = /\bno[ -]data\b|\bre-triggered\b|\p{L}+(?:_\p{L}+)*/giu;

function words(text: string, state: SubjectWord): [string, SubjectWord][] {
  return text.split(" ").map((word) => [word, state]);
}

function stateOfWord(word: string): SubjectWord | undefined {
  return STATES.get(word.toUpperCase().replace(/^NO[ -]/, "NO_"));
}

function isWeak(word: string): boolean {
  return WEAK.has(word.toUpperCase());
}

/** In brackets with a word for the end, it is the former severity: `[RESOLVED - Warning]`. */
const SEVERITY =
  /\b(?:critical|crit|warning|warn|error|unknown|major|minor|high|medium|low|info|sev ?\d|p\d)\b/gi;

const GOOD = /[🟢✅💚☑✔🆗]/u;
const BAD = /[🔴❌🚨⛔🛑🔥⚠🟠🟡🟥🔶❗‼🆘💔✖]/u;

/** The state of a coloured circle, or a similar sign, before the first letter; null for none. */
function colourOf(text: string): "over" | "trouble" | null {
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
function deniedBefore(before: string): string {
  return DENIED_BEFORE.exec(before)?.[0] ?? "";
}

/** Whether a clause speaks against a state: by a negation, a part of a whole, a question, or a percentage. */
function isDoubtful(clause: string): boolean {
  if (/[?%]/.test(clause) || ZERO.test(clause) || DENIED.test(clause)) return true;
  const [, some = "0", all = "0"] = PART.exec(clause) ?? [];
  return Number(some) < Number(all);
}

const CLAUSE_ENDS = /[[\]()|;!*]|[.:](?=\s|$)|\s[-–—]\s/g;

/** The clause of `text` around the place, without brackets and without what follows a colon. */
function clauseAt(text: string, from: number, to: number): string {
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

/** A state word in a subject that is set apart like a label, or a coloured circle. */
export interface Mark {
  from: number;
  to: number;
  /** The part of the mark that belongs to the alert's name: `on {host:web-01}`. */
  kept: string;
  state: SubjectWord;
  /** It follows an arrow: the new state. */
  isEnd: boolean;
  /** In brackets, at the beginning or next to an arrow: not part of a sentence. */
  isStrong: boolean;
  /** Why it may not mean its state: a negation right before it, or something else in its clause. */
  doubt: "denied" | "around" | null;
}

/** A state word, with the text around it. */
interface Place {
  word: string;
  at: number;
  state: SubjectWord;
  /** "not" and the like right before the word. */
  denial: string;
  /** The text from the previous mark, without the negation. */
  before: string;
  after: string;
  /** Only signs and brackets stand between this and the previous mark, or the beginning. */
  isNext: boolean;
  /** Only marks, signs and brackets stand before it. */
  isStart: boolean;
  /** Written as a mark: in capitals, or next to a coloured circle. */
  isLoud: boolean;
  hasColour: boolean;
}

const ARROW_BEHIND = /^\s*(?:->|=>|→)/;
const ARROW_BEFORE = /(?:->|=>|→)\s*$/;
const IS_BEFORE = /\b(?:is|now|is back|went|gone)\s+$/i;
const NO_WORDS = /^[^\p{L}\p{N}]*$/u;
const GROUPS = /\[[^[\]]*\]/g;
/** What follows a first word that is a mark and not the beginning of a sentence. */
const SET_OFF = /^(?:\s*[:|\])*–—]|\s+-|-\s)/;
const LASTED = /^ in(?: \d+(?:\.\d+)?[smhdw])+(?=:)/;
const PROSE =
  /^\s+(?:to|of|for|from|with|without|by|and|or|but|next|before|after|until|only|in|on|at|as|if|when|while|because|is|was|will|has|had|an?|the|there|job|test)\b/i;
const TROUBLE = /\b(?:fail\p{L}*|error|down|critical|degraded)\b/iu;

/** The marks of a subject, in order. */
export function marksIn(text: string): Mark[] {
  const colour = colourOf(text);
  const hasColour = colour !== null;
  const marks: Mark[] = hasColour ? [colourMark(text, colour)] : [];
  let isStart = true;
  for (const match of text.matchAll(SUBJECT_WORDS)) {
    const [word] = match;
    const { index: at } = match;
    const behind = marks.at(-1)?.to ?? 0;
    const state = at < behind ? undefined : stateOfWord(word);
    if (state === undefined) continue;
    const after = text.slice(at + word.length);
    const isLoud = hasColour || word === word.toUpperCase();
    const open = text.lastIndexOf("[", at);
    if (open > text.lastIndexOf("]", at) && text.includes("]", at)) {
      if (NO_WORDS.test(text.slice(open, at)))
        marks.push(inBrackets(text, { word, at, state, open }));
      continue;
    }
    const whole = text.slice(behind, at);
    const denial = deniedBefore(whole);
    const before = whole.slice(0, whole.length - denial.length);
    const isNext = NO_WORDS.test(before.replace(GROUPS, ""));
    isStart &&= isNext;
    const place = { word, at, state, denial, before, after, isNext, isStart, isLoud, hasColour };
    const mark = inText(text, place);
    if (mark !== null) marks.push(mark);
  }
  return marks;
}

function colourMark(text: string, state: "over" | "trouble"): Mark {
  const doubt = state === "over" && isDoubtful(clauseAt(text, 0, 0)) ? "around" : null;
  return { from: 0, to: 0, kept: "", state, isEnd: false, isStrong: false, doubt };
}

/** First in its brackets, after signs at most: `[FIRING:2]`, `[✅ Up]`, `[RESOLVED - Warning]`. */
function inBrackets(
  text: string,
  { word, at, state, open }: { word: string; at: number; state: SubjectWord; open: number },
): Mark {
  const close = text.indexOf("]", at);
  const rest = text.slice(at + word.length, close);
  return {
    from: open,
    to: close + 1,
    kept: keptOf(rest),
    state: bracketState(rest, state),
    isEnd: ARROW_BEFORE.test(text.slice(0, open)),
    isStrong: true,
    doubt: isDoubtful(text.slice(open + 1, close)) ? "denied" : null,
  };
}

/** A bracket that also names a firing state, `[RESOLVED:2, FIRING:1]`, means firing. A severity isn't a state. */
function bracketState(rest: string, first: SubjectWord): SubjectWord {
  const others = /,|->|=>|→/.test(rest) ? rest : rest.replace(SEVERITY, "");
  const states = [...others.matchAll(SUBJECT_WORDS)].map(([word]) => stateOfWord(word));
  return states.includes("trouble") ? "trouble" : first;
}

/** What a mark's brackets hold besides state words, severities, counts and signs. */
function keptOf(rest: string): string {
  const text = rest
    .replace(SUBJECT_WORDS, (word) => (stateOfWord(word) === undefined ? word : ""))
    .replace(SEVERITY, "")
    .replace(/:\s*\d+/g, "");
  return NO_WORDS.test(text) ? "" : text.trim();
}

function inText(text: string, place: Place): Mark | null {
  const { word, at, denial, before, after } = place;
  const isEnd = ARROW_BEFORE.test(before);
  const isArrow = isEnd || ARROW_BEHIND.test(after);
  const isStrong = isArrow || isFirstMark(text, place);
  if (!isStrong && !isMark(place)) return null;
  const [lasted = ""] = LASTED.exec(after) ?? [];
  const [back = ""] = /\bback\s+$/i.exec(before) ?? [];
  // The state before an arrow is no end.
  const state = isEnd || !isArrow ? place.state : "trouble";
  return {
    from: at - denial.length - back.length,
    to: at + word.length + lasted.length,
    kept: "",
    state,
    isEnd,
    isStrong,
    doubt:
      denial !== ""
        ? "denied"
        : !isArrow && isDoubtful(clauseAt(text, at, at + word.length))
          ? "around"
          : null,
  };
}

/** A first word is a mark, except a word for the end in a sentence: "Up next", "RECOVERY of shop failed". */
function isFirstMark(
  text: string,
  { word, at, state, after, isNext, isStart, isLoud }: Place,
): boolean {
  const isSetOff = SET_OFF.test(after) || LASTED.test(after) || NO_WORDS.test(after);
  if (state === "trouble" || state === "none")
    return isNext && (isLoud || isSetOff || word.length > 2);
  if (!isStart || (isWeak(word) && !isSetOff)) return false;
  const end = at + word.length;
  return (
    isSetOff ||
    (isLoud && /^\s/.test(after) && !PROSE.test(after) && !TROUBLE.test(clauseAt(text, end, end)))
  );
}

/** A mark at the end, after "is", or before a colon where a circle shows that the subject is about a state. */
function isMark({ word, before, after, isLoud, hasColour }: Place): boolean {
  if (isWeak(word)) return false;
  if (IS_BEFORE.test(before) && (isLoud || (/^\p{Lu}/u.test(word) && NO_WORDS.test(after))))
    return true;
  return isLoud && (NO_WORDS.test(after) || (hasColour && /^\s*[:|]/.test(after)));
}
