import { type EntryType, newestFirst, TYPE_WORDS, titleOf } from "./report.ts";
import { clockText, dayText, exactText, lengthText } from "./times.ts";
import type { EntryDraft } from "./written.ts";

/** One step of an alert's history (decisions §5, timeline). */
export interface TimelineStep {
  /** Unix seconds. */
  at: number;
  kind: string;
  account_id: string | null;
  detail: Readonly<Record<string, unknown>>;
}

/**
 * What each kind of step is for a customer. Kinds that aren't here (a failed delivery, a page taken
 * back) are the operator's business, as are names, addresses and rules: none of it goes into a draft.
 */
const STEP_WORDS: Record<string, string> = {
  opened: "The problem was detected automatically.",
  delivered: "The people on call were notified.",
  escalated: "More people were called in.",
  renotified: "The people on call were notified again.",
  acknowledged: "An engineer began to look into it.",
  resolved: "The problem was over.",
};

/**
 * Pure: an alert's history (oldest first) as a Markdown entry. Steps that say the same one after the
 * other become one. An empty history gives a draft that says so by its lack of lines.
 */
export function draftEntry(timeline: readonly TimelineStep[]): EntryDraft {
  const steps = told(timeline);
  const resolved = steps.some((step) => step.kind === "resolved");
  const content = [...stepLines(steps), summary(steps), "What we know so far: …"];
  return {
    title: resolved ? "Resolved" : "What has happened so far",
    entry_type: resolved ? "resolution" : "update",
    content_md: `${content.filter((part) => part !== "").join("\n\n")}\n`,
  };
}

function told(timeline: readonly TimelineStep[]): TimelineStep[] {
  const known = timeline.filter(({ kind }) => Object.hasOwn(STEP_WORDS, kind));
  return known.filter(({ kind }, index) => kind !== known[index - 1]?.kind);
}

/** One list for each day, so that a line needs no more than the time of day. */
function stepLines(steps: readonly TimelineStep[]): string[] {
  const days = Map.groupBy(steps, (step) => dayText(step.at));
  return [...days].map(([day, its]) => {
    const lines = its.map(({ at, kind }) => `- **${clockText(at)}** ${STEP_WORDS[kind]}`);
    return `${day}, times in UTC:\n\n${lines.join("\n")}`;
  });
}

function summary(steps: readonly TimelineStep[]): string {
  const at = (kind: string) => steps.find((step) => step.kind === kind)?.at;
  const [opened, seen, over] = [at("opened"), at("acknowledged"), at("resolved")];
  if (opened === undefined) return "";
  const parts = [
    ...(seen === undefined ? [] : [`looked into after ${lengthText(seen - opened)}`]),
    ...(over === undefined ? [] : [`over after ${lengthText(over - opened)}`]),
  ];
  const sentence = parts.join(", ");
  return sentence === "" ? "" : `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

/** A report as its writers see it. Times are Unix seconds. */
export interface WrittenReport {
  title: string;
  /** Plain text. */
  description: string;
  createdAt: number;
  updatedAt: number;
}

export interface WrittenEntry {
  title: string;
  type: EntryType;
  contentMd: string;
  createdAt: number;
}

/** Pure: the whole report as one Markdown document, oldest entry first, as one would file it. */
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

/** One line of plain text in Markdown that renders as that text. */
function plain(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_{}[\]()<>#+\-.!|~&=]/g, "\\$&");
}

/** Closes a code fence left open, which would otherwise swallow every entry after it. */
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
