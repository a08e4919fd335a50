import type { EntryType } from "../../ground/store/columns.ts";
import { newestFirst, TYPE_WORDS, titleOf } from "./report.ts";
import { clockText, dayText, exactText, lengthText } from "./times.ts";
import type { EntryDraft } from "./written.ts";

/** One entry of an alert's timeline (contract §5). */
export interface TimelineStep {
  at: number;
  kind: string;
  account_id: string | null;
  detail: Readonly<Record<string, unknown>>;
}

/** An entry in words for customers. */
interface ToldStep {
  at: number;
  words: string;
}

/** The messages that a channel accepted. That somebody read one isn't recorded, so the draft doesn't claim it. */
const SENT_WORDS: Record<string, string> = {
  "alert.opened": "A notification was sent.",
  "alert.escalated": "A page to the people on call was sent.",
  "alert.renotified": "A reminder was sent.",
};

/**
 * A timeline entry in words for customers: only facts. A step of the ladder is a plan; its delivery is the fact. null
 * for what only concerns operators (a failed delivery, a withdrawn page). Names, addresses and rules never appear in a
 * draft.
 */
function wordsOf({ kind, detail }: TimelineStep): string | null {
  switch (kind) {
    case "opened":
      return "The problem was detected automatically.";
    case "delivered":
      return SENT_WORDS[String(detail["event"])] ?? null;
    case "reached_nobody":
      return detail["top"] === true ? "Nobody on call could be reached." : null;
    case "acknowledged":
      return "The team acknowledged the problem.";
    case "resolved":
      return RESOLVED_WORDS[String(detail["reason"])] ?? "The problem was marked as resolved.";
    default:
      return null;
  }
}

const RESOLVED_WORDS: Record<string, string> = {
  quiet: "There had been no more signs of the problem for a while.",
  merged: "It proved to be the same problem as another one that is being followed.",
};

/** Whether the problem ends with this entry. A merged alert's continues in the other alert. */
function ends({ kind, detail }: TimelineStep): boolean {
  return kind === "resolved" && detail["reason"] !== "merged";
}

/** Pure: an alert's timeline (oldest first) as a Markdown entry. Equal lines in a row become one. */
export function draftEntry(timeline: readonly TimelineStep[]): EntryDraft {
  const resolved = timeline.some(ends);
  const content = [...stepLines(told(timeline)), summary(timeline), "What we know so far: …"];
  return {
    title: resolved ? "Resolved" : "What has happened so far",
    entry_type: resolved ? "resolution" : "update",
    content_md: `${content.filter((part) => part !== "").join("\n\n")}\n`,
  };
}

function told(timeline: readonly TimelineStep[]): ToldStep[] {
  const steps = timeline.flatMap((step) => {
    const words = wordsOf(step);
    return words === null ? [] : [{ at: step.at, words }];
  });
  return steps.filter(({ words }, index) => words !== steps[index - 1]?.words);
}

/** A list for each day, so that a line needs only the time of day. */
function stepLines(steps: readonly ToldStep[]): string[] {
  const days = Map.groupBy(steps, (step) => dayText(step.at));
  return [...days].map(([day, its]) => {
    const lines = its.map(({ at, words }) => `- **${clockText(at)}** ${words}`);
    return `${day}, times in UTC:\n\n${lines.join("\n")}`;
  });
}

function summary(timeline: readonly TimelineStep[]): string {
  const at = (kind: string) => timeline.find((step) => step.kind === kind)?.at;
  const [opened, seen, over] = [at("opened"), at("acknowledged"), timeline.find(ends)?.at];
  if (opened === undefined) return "";
  const parts = [
    ...(seen === undefined ? [] : [`acknowledged after ${lengthText(seen - opened)}`]),
    ...(over === undefined ? [] : [`resolved after ${lengthText(over - opened)}`]),
  ];
  const sentence = parts.join(", ");
  return sentence === "" ? "" : `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

/** A report as its writers see it. Times are Unix seconds. */
interface WrittenReport {
  title: string;
  /** Plain text. */
  description: string;
  createdAt: number;
  updatedAt: number;
}

interface WrittenEntry {
  title: string;
  type: EntryType;
  contentMd: string;
  createdAt: number;
}

/** Pure: the whole report as one Markdown document, oldest entry first. */
export function exportMarkdown(report: WrittenReport, entries: readonly WrittenEntry[]): string {
  const oldestFirst = newestFirst(entries).reverse();
  const parts = [
    `# ${plain(titleOf(report))}`,
    `Opened ${exactText(report.createdAt)}, last updated ${exactText(report.updatedAt)}.`,
    report.description.trim().split("\n").map(plain).join("\n"),
    ...oldestFirst.flatMap((entry) => [
      `## ${entryHeading(entry)}`,
      `*${exactText(entry.createdAt)}*`,
      fenceClosed(entry.contentMd.trim()),
    ]),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function entryHeading({ title, type }: WrittenEntry): string {
  return title.trim() === "" ? TYPE_WORDS[type] : `${TYPE_WORDS[type]}: ${plain(title)}`;
}

/** One line of plain text, escaped so that Markdown renders it unchanged. */
function plain(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_{}[\]()<>#+\-.!|~&=]/g, "\\$&");
}

/** Closes an open code fence, which would otherwise swallow all later entries. */
function fenceClosed(markdown: string): string {
  let open = "";
  for (const line of markdown.split("\n")) {
    const [, fence = "", info = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (open === "") {
      if (fence !== "" && !(fence.startsWith("`") && info.includes("`"))) open = fence;
    } else if (fence.startsWith(open) && info.trim() === "") {
      open = "";
    }
  }
  return open === "" ? markdown : `${markdown}\n${open}`;
}
