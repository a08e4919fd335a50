import { asText, type JsonFields, objectOf } from "../json.ts";
import { levelOfWord } from "../levels.ts";
import { bestText } from "./best-text.ts";
import { isFilled, valueText } from "./values.ts";

const MESSAGE =
  "message text title summary subject name alert description msg event body content".split(" ");
const TITLE = ["title", "summary", "subject"];
const DETAILS = ["description", "message"];
const LEVEL = ["severity", "level", "priority", "status", "state", "current_state"];
const STATE =
  "status state action event_action transition current_state alert_state alert_status alert_transition event_state monitor_status".split(
    " ",
  );
const OVER = set("resolved recovered recovery closed clear cleared");
/** Words that can also describe an answer or a switch: a severity that means trouble outweighs them. */
const OVER_PERHAPS = set("ok okay up normal inactive");
/** In addition to the words that mean a warning or worse in `levels.ts`. */
const TROUBLE = set(
  "firing fire fired trigger triggered re-triggered alarm alerting problem open opened unresolved active activated created offline unhealthy unreachable flapping trouble no_data insufficient_data",
);
const KEY =
  "dedup_key fingerprint alert_uid incident_id alert_id aggreg_key check_id event_id id uid".split(
    " ",
  );
const LINK = ["url", "link", "href", "html_url"];

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

/** What an unknown body seems to say. */
export type Guess = ReturnType<typeof guessed>;

export function guessed(value: unknown) {
  const fields = objectOf(value) ?? {};
  const firstText = (names: readonly string[]) => {
    for (const name of names) {
      const text = fields[name];
      if (typeof text === "string" && text.trim() !== "") return { name, text: text.trim() };
    }
    return null;
  };
  const word = (names: readonly string[]) =>
    names.map((name) => asText(fields[name])).find(isFilled);
  const message = firstText(MESSAGE);
  const details = firstText(DETAILS.filter((name) => name !== message?.name));
  const dedupKey = word(KEY) ?? "";
  return {
    message: message === null ? (bestText(value) ?? valueText(value)) : readable(message.text),
    /** The sender's own; empty for none. */
    title: firstText(TITLE)?.text ?? "",
    details: details?.text ?? "",
    /** Null: no word for it. */
    level: LEVEL.map((name) => levelOfWord(asText(fields[name]))).find((n) => n !== null) ?? null,
    isOver: isOver(fields),
    dedupKey,
    link: firstText(LINK)?.text ?? "",
    /** Names of the fields used for message and details. */
    used: [message?.name, details?.name].filter((name) => name !== undefined),
  };
}

/** One word for the end is enough where no other means trouble: an alert that ends wrongly pages nobody. */
function isOver(fields: JsonFields): boolean {
  const said = (names: readonly string[]) =>
    names.map((name) => asText(fields[name]).trim().toLowerCase().replaceAll(" ", "_"));
  const states = said(STATE);
  if (states.some(isTrouble)) return false;
  if (states.some((word) => OVER.has(word))) return true;
  return (
    states.some((word) => OVER_PERHAPS.has(word)) && !said(["severity", "level"]).some(isTrouble)
  );
}

const isTrouble = (word: string): boolean =>
  TROUBLE.has(word) || (levelOfWord(word.replaceAll("_", " ")) ?? 0) >= 300;

/** A text that is JSON, as the words in it. */
function readable(text: string): string {
  if (!/^[[{]/.test(text)) return text;
  return bestText(text) ?? text;
}
