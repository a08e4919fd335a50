import { type Mark, marksIn } from "./marks.ts";

/** The state in a subject, and what the subject is about in every state (contract §23). */
interface SubjectState {
  action: "fire" | "resolve" | "acknowledge";
  /** The subject without its state words, in lower case: the same for the firing and the end. */
  name: string;
}

/** Characters of a subject that are read. */
const MOST = 1000;
const ANSWER = /^\s*(?:(?:re|aw|fwd?|wg|tr|sv)\s*:\s*)+/i;

/** Some senders' subjects, and their replacements: the state in brackets, without what changes each time. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  // Uptime Kuma: the check's output follows the state.
  [/^(\s*\[[^\]]+\]\s*\[[^\p{L}\p{N}\]]*(?:up|down)\]).*$/isu, "$1"],
  // Azure: the time.
  [
    / at \d{1,4}[/.-]\d{1,2}[/.-]\d{1,4},? \d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?(?: \w{3,4})?\s*$/i,
    "",
  ],
  [/^(\[PRTG.*?) (?:down|warning|unusual) ended \(now: (\w+)\).*$/i, "$1 [$2]"],
  [/^(\[PRTG.*?) (down|warning|unusual)(?: escalation)?(?: \(.*\))?$/i, "$1 [$2]"],
  // LibreNMS.
  [/^Device (\S+) recovered from (.+)$/, "[Recovered] Alert for device $1 - $2"],
  [/^(Alert for device \S+ - .+) (?:got worse|got better|changed)$/, "$1"],
  // Zabbix and Checkmk: updates of a firing.
  [/^updated problem in [^:]*:/i, "Problem:"],
  [/^(check_?mk: .+) acknowledged \(\w+\)$/i, "[Acknowledged] $1"],
];

const EDGE = "[\\s*:|!.\\p{Extended_Pictographic}\\u{FE0F}-]+";
const EDGES = new RegExp(`^${EDGE}|${EDGE}$`, "gu");

/**
 * Whether a subject is about a firing or its end. A word counts where it is set apart as a mark; for an end, nothing
 * may speak against it: a firing that is read as an end is a page that never rings.
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
