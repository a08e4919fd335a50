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

/** A word for a state that stands as one, or a coloured circle. */
export interface Mark {
  from: number;
  to: number;
  /** What of that place belongs to the name: `on {host:web-01}`. */
  kept: string;
  state: SubjectWord;
  /** Behind an arrow: the state that it came to. */
  isEnd: boolean;
  /** In brackets, at the beginning or beside an arrow: not within a sentence. */
  isStrong: boolean;
  /** What speaks against it: the words right before it, or something around it. */
  doubt: "denied" | "around" | null;
}

/** A word for a state, where it stands. */
interface Place {
  word: string;
  at: number;
  state: SubjectWord;
  /** "not" and the like right before it. */
  denial: string;
  /** From the mark before it, without what denies it. */
  before: string;
  after: string;
  /** Between it and the mark before it, or the beginning, there is nothing but signs and brackets. */
  isNext: boolean;
  /** Nothing but marks, signs and brackets stand before it. */
  isStart: boolean;
  /** Written as a mark: large letters, or any beside a coloured circle. */
  isLoud: boolean;
  hasColour: boolean;
}

const ARROW_BEHIND = /^\s*(?:->|=>|→)/;
const ARROW_BEFORE = /(?:->|=>|→)\s*$/;
const IS_BEFORE = /\b(?:is|now|is back|went|gone)\s+$/i;
const NO_WORDS = /^[^\p{L}\p{N}]*$/u;
const GROUPS = /\[[^[\]]*\]/g;
/** Behind a word at the beginning: what makes it a mark and not the first word of a sentence. */
const SET_OFF = /^(?:\s*[:|\])*–—]|\s+-|-\s)/;
const LASTED = /^ in(?: \d+(?:\.\d+)?[smhdw])+(?=:)/;
const PROSE =
  /^\s+(?:to|of|for|from|with|without|by|and|or|but|next|before|after|until|only|in|on|at|as|if|when|while|because|is|was|will|has|had|an?|the|there|job|test)\b/i;
const TROUBLE = /\b(?:fail\p{L}*|error|down|critical|degraded)\b/iu;

/** The marks of a subject, in their order. */
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

/** First in its brackets, behind signs at most: `[FIRING:2]`, `[✅ Up]`, `[RESOLVED - Warning]`. */
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

/** A mark that tells of trouble too, `[RESOLVED:2, FIRING:1]`, tells of trouble. How bad it was isn't trouble. */
function bracketState(rest: string, first: SubjectWord): SubjectWord {
  const others = /,|->|=>|→/.test(rest) ? rest : rest.replace(SEVERITY, "");
  const states = [...others.matchAll(SUBJECT_WORDS)].map(([word]) => stateOfWord(word));
  return states.includes("trouble") ? "trouble" : first;
}

/** What stands in a mark's brackets beside words for states and for how bad it is, counts and signs. */
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
  // What it was before the arrow is no end, whatever came then.
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

/** At the beginning a word is a mark; one for the end only where it isn't a sentence's: "Up next", "RECOVERY of shop failed". */
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

/** At the end, behind "is", or before a colon where a circle says that this is about a state. */
function isMark({ word, before, after, isLoud, hasColour }: Place): boolean {
  if (isWeak(word)) return false;
  if (IS_BEFORE.test(before) && (isLoud || (/^\p{Lu}/u.test(word) && NO_WORDS.test(after))))
    return true;
  return isLoud && (NO_WORDS.test(after) || (hasColour && /^\s*[:|]/.test(after)));
}
