import { type Mark, marksIn } from "./marks.ts";

/** What a subject says of a state, and what it speaks of whatever the state (contract §23). */
export interface SubjectState {
  action: "fire" | "resolve" | "acknowledge";
  /** The subject without the words for the state, small letters: the same when it fires and when it is over. */
  name: string;
}

/** Of a subject more is not looked at. */
const MOST = 1000;
const ANSWER = /^\s*(?:(?:re|aw|fwd?|wg|tr|sv)\s*:\s*)+/i;

/** Shapes of some senders, and the same with the state in brackets and without what changes each time. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  // Uptime Kuma: what the check said stands behind the state.
  [/^(\s*\[[^\]]+\]\s*\[[^\p{L}\p{N}\]]*(?:up|down)\]).*$/isu, "$1"],
  // Azure: when it was.
  [
    / at \d{1,4}[/.-]\d{1,2}[/.-]\d{1,4},? \d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?(?: \w{3,4})?\s*$/i,
    "",
  ],
  [/^(\[PRTG.*?) (?:down|warning|unusual) ended \(now: (\w+)\).*$/i, "$1 [$2]"],
  [/^(\[PRTG.*?) (down|warning|unusual)(?: escalation)?(?: \(.*\))?$/i, "$1 [$2]"],
  // LibreNMS.
  [/^Device (\S+) recovered from (.+)$/, "[Recovered] Alert for device $1 - $2"],
  [/^(Alert for device \S+ - .+) (?:got worse|got better|changed)$/, "$1"],
  // Zabbix and Checkmk, of what goes on while it lasts.
  [/^updated problem in [^:]*:/i, "Problem:"],
  [/^(check_?mk: .+) acknowledged \(\w+\)$/i, "[Acknowledged] $1"],
];

const EDGE = "[\\s*:|!.\\p{Extended_Pictographic}\\u{FE0F}-]+";
const EDGES = new RegExp(`^${EDGE}|${EDGE}$`, "gu");

/**
 * Whether a subject tells of trouble or of its end. A word counts where it stands as a mark, and for an end only where
 * nothing speaks against it: a firing that is taken for an end is a page that never rings.
 */
export function stateOf(subject: string): SubjectState {
  let text = subject.slice(0, MOST).replace(ANSWER, "").trim();
  for (const [shape, as] of SHAPES) text = text.replace(shape, as);
  const marks = marksIn(text);
  let name = "";
  let at = 0;
  for (const { from, to, kept } of marks) {
    name += `${text.slice(at, from)} ${kept} `;
    at = to;
  }
  name = `${name}${text.slice(at)}`.toLowerCase().replace(/->|=>|→/g, " ");
  return { action: actionOf(marks), name: name.replace(/\s+/g, " ").replace(EDGES, "") };
}

function actionOf(marks: readonly Mark[]): SubjectState["action"] {
  const isSure = marks.some(
    ({ state, doubt, isStrong }) => /over|seen/.test(state) && doubt === null && isStrong,
  );
  const states = marks
    .filter(({ state }) => state !== "none")
    .map(({ state, doubt, isEnd }) => ({
      state: doubt === "denied" || (doubt === "around" && !isSure) ? "trouble" : state,
      isEnd,
    }));
  if (states.some(({ state }) => state === "seen")) return "acknowledge";
  const last = states.at(-1);
  if (last?.state !== "over") return "fire";
  return last.isEnd || states.every(({ state }) => state === "over") ? "resolve" : "fire";
}
