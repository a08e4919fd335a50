import { asText, objectOf } from "../json.ts";
import { levelOfWord } from "../levels.ts";
import { isFilled, valueText } from "./values.ts";

const MESSAGE =
  "message text title summary subject name alert description msg event body content".split(" ");
const DETAILS = ["description", "message"];
const LEVEL = ["severity", "level", "priority", "status", "state"];
const STATE = ["status", "state", "action", "event_action", "transition"];
const OVER = new Set(
  "resolved ok up recovered recovery closed clear cleared normal inactive".split(" "),
);
const KEY = "dedup_key fingerprint alert_uid incident_id alert_id event_id id uid".split(" ");
const LINK = ["url", "link", "href", "html_url"];

/** What a body of which nothing is known seems to say. */
export interface Guess {
  message: string;
  details: string;
  /** Null: no word for it. */
  level: number | null;
  isOver: boolean;
  dedupKey: string;
  link: string;
  /** Names that were taken for message and details. */
  used: readonly string[];
}

export function guessed(value: unknown): Guess {
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
    message: message?.text ?? valueText(value),
    details: details?.text ?? "",
    level: LEVEL.map((name) => levelOfWord(asText(fields[name]))).find((n) => n !== null) ?? null,
    isOver: STATE.some((name) => OVER.has(asText(fields[name]).trim().toLowerCase())),
    dedupKey,
    link: firstText(LINK)?.text ?? "",
    used: [message?.name, details?.name].filter((name) => name !== undefined),
  };
}
