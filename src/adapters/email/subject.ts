/** What a subject says of a state, and what it speaks of whatever the state (contract §23). */
export interface SubjectState {
  action: "fire" | "resolve" | "acknowledge";
  /** The subject without the words for the state, small letters: the same when it fires and when it is over. */
  name: string;
}

type State = "over" | "trouble" | "seen";

const STATES = new Map<string, State>([
  ...words("OK UP RECOVERY RECOVERED RESOLVED CLEARED", "over"),
  ...words("PROBLEM DOWN FIRING CRITICAL CRIT WARNING WARN UNKNOWN UNREACHABLE", "trouble"),
  ...words("FAILED FAILURE DEGRADED ERROR ALERT", "trouble"),
  ...words("ACKNOWLEDGEMENT ACKNOWLEDGED", "seen"),
]);

function words(text: string, state: State): [string, State][] {
  return text.split(" ").map((word) => [word, state]);
}

/** Of a subject more is not looked at. */
const MOST = 1000;
const ANSWER = /^\s*(?:(?:re|aw|fwd?|wg)\s*:\s*)+/i;
const ARROW_BEHIND = /^\s*(?:->|=>|→)/;
const ARROW_BEFORE = /(?:->|=>|→)\s*$/;
const IS_BEFORE = /\b(?:is|now)\s+$/i;
const NO_WORDS = /^[^\p{L}\p{N}]*$/u;

interface Found {
  from: number;
  to: number;
  state: State;
  /** Behind an arrow: the state that it came to. */
  isEnd: boolean;
}

/**
 * A word counts as a state only where it stands as one: at the beginning or the end, first in brackets, behind "is" or
 * beside an arrow. In the middle of a sentence it is prose, and a firing that is taken for an end is a page that never rings.
 */
export function stateOf(subject: string): SubjectState {
  const text = subject.slice(0, MOST).replace(ANSWER, "");
  const found = statesIn(text);
  let name = "";
  let at = 0;
  for (const { from, to } of found) {
    name += `${text.slice(at, from)} `;
    at = to;
  }
  name = `${name}${text.slice(at)}`.toLowerCase();
  return {
    action: actionOf(found),
    name: name.replace(/\s+/g, " ").replace(/^[\s*:|!.-]+|[\s*:|!.-]+$/g, ""),
  };
}

function actionOf(found: readonly Found[]): SubjectState["action"] {
  if (found.some(({ state }) => state === "seen")) return "acknowledge";
  const last = found.at(-1);
  if (last?.state !== "over") return "fire";
  return last.isEnd || found.every(({ state }) => state === "over") ? "resolve" : "fire";
}

function statesIn(text: string): Found[] {
  const found: Found[] = [];
  for (const match of text.matchAll(/\p{L}+/gu)) {
    const [word] = match;
    const { index: at } = match;
    const state = STATES.get(word.toUpperCase());
    const from = found.at(-1)?.to ?? 0;
    if (state === undefined || at < from) continue;
    const around = { word, before: text.slice(from, at), after: text.slice(at + word.length) };
    if (isMark(around)) found.push(rangeOf(text, { word, at, state }));
  }
  return found;
}

/** Whether the word stands as a state; `before` begins behind the one before it. */
function isMark({ word, before, after }: { word: string; before: string; after: string }): boolean {
  const isLoud = word === word.toUpperCase();
  if (ARROW_BEHIND.test(after) || ARROW_BEFORE.test(before)) return true;
  if (isLoud && IS_BEFORE.test(before)) return true;
  const bracket = before.lastIndexOf("[");
  if (bracket > before.lastIndexOf("]") && NO_WORDS.test(before.slice(bracket))) return true;
  // "Ok to go on", "Up next" and "Recovery of the database failed" are prose, where they aren't written as a mark.
  if (NO_WORDS.test(before))
    return isLoud || /^\s*[:|\])-]/.test(after) || (word.length > 2 && !isProse(word, after));
  return isLoud && NO_WORDS.test(after);
}

const isProse = (word: string, after: string): boolean =>
  /^(recover|clear)/i.test(word) && /\bfail(s|ed|ure)?\b/i.test(after);

/** A state's text with what belongs to it: the brackets around it, Zabbix' "Resolved in 1h 2m:". */
function rangeOf(
  text: string,
  { word, at, state }: { word: string; at: number; state: State },
): Found {
  const isEnd = ARROW_BEFORE.test(text.slice(0, at));
  const open = text.lastIndexOf("[", at);
  const close = text.indexOf("]", at);
  const isBracketed = open !== -1 && close !== -1 && text.lastIndexOf("]", at) < open;
  if (isBracketed && NO_WORDS.test(text.slice(open, at)))
    return {
      from: open,
      to: close + 1,
      state: bracketState(text.slice(open, close), state),
      isEnd,
    };
  const [lasted = ""] =
    /^ in(?: \d+(?:\.\d+)?[smhdw])+(?=:)/.exec(text.slice(at + word.length)) ?? [];
  return { from: at, to: at + word.length + lasted.length, state, isEnd };
}

/** A mark that tells of both, `[FIRING:1, RESOLVED:2]`, tells of trouble. */
function bracketState(mark: string, first: State): State {
  const all = [...mark.matchAll(/\p{L}+/gu)].map(([word]) => STATES.get(word.toUpperCase()));
  return all.includes("trouble") ? "trouble" : first;
}
