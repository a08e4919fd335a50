import { historyWords, type Said, type Sentence } from "../src/core/alerts/history-words.ts";
import type { TimelineEntry } from "../src/core/alerts/timeline.ts";
import { duration } from "../src/out/outbox/message.ts";
import { printable, when } from "./table.ts";

/** A timeline entry in words, a note with its text. `nameOf` names accounts. */
export function entryText(entry: TimelineEntry, nameOf: (id: string) => string): string {
  const { kind, detail } = entry;
  const note = detail["deleted"] === true ? "taken back" : String(detail["text"] ?? "");
  const words = textOf(historyWords(entry, nameOf));
  return printable(kind === "noted" ? `${words} ${note}` : words);
}

const textOf = (sentence: Sentence): string => sentence.map(partText).join("");

/** What went wrong stands in capitals: nothing else marks it here. */
function partText(said: Said): string {
  if ("words" in said) return said.words;
  if ("strong" in said) return said.strong;
  if ("wrong" in said)
    return said.wrong
      .map((part) => ("words" in part ? part.words.toUpperCase() : partText(part)))
      .join("");
  if ("time" in said) return when(said.time);
  if ("span" in said) return duration(said.span);
  return "value" in said ? said.value : `#${said.alert}`;
}
