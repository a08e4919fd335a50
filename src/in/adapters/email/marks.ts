import {
  clauseAt,
  colourOf,
  deniedBefore,
  isDoubtful,
  isWeak,
  SEVERITY,
  SUBJECT_WORDS,
  type SubjectWord,
  stateOfWord,
} from "./words.ts";

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
