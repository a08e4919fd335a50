import { levelName } from "../../ground/kit/level.ts";
import { shellQuoted } from "../../ground/kit/shell.ts";
import { ellipsis, inOneLine } from "../../ground/kit/text.ts";
import type { EventBody } from "./event.ts";

/** Alerts that a room is told of in one message, as it is written with that message. */
export interface GroupedAlerts {
  total: number;
  /** The first of the projects that they are of, and how many those are; absent: the event's, as it was written before rooms of several were told so. */
  projects?: { first: readonly string[]; total: number };
  /** Rules by how many, most first; at most `MOST_RULES`. */
  rules: readonly RuleCount[];
  /** The rules that aren't there, and their alerts. */
  more: { rules: number; alerts: number };
  /** The worst that aren't over, highest level first. */
  worst: readonly SummaryAlert[];
  /** What the first of them said. */
  first: string;
}

export interface RuleCount {
  project?: string;
  rule: string;
  total: number;
  acknowledged: number;
  resolved: number;
}

export interface SummaryAlert {
  id: number;
  project?: string;
  rule: string;
  level: number;
  state: string;
  message: string;
}

export const MOST_PROJECTS = 3;
export const MOST_RULES = 10;
export const MOST_WORST = 10;
const LONGEST_NAME = 40;
const LONGEST_MESSAGE = 120;

/** The lines of such a message; plain text, escaped by nobody yet. Counts first, and how to take them all: a channel cuts the end. */
export function groupedWords(event: EventBody, together: GroupedAlerts) {
  const { total, rules, more, worst, first } = together;
  const { projects = { first: [event.project], total: 1 } } = together;
  const [only] = rules;
  const count = rules.length + more.rules;
  const of = count === 1 ? `of rule ${name(only?.rule ?? "")}` : `of ${count} rules`;
  const isOne = projects.total <= 1;
  const where = isOne ? name(projects.first[0] ?? event.project) : `${projects.total} projects`;
  const named = <T extends { project?: string; rule: string }>(one: T): T => ({
    ...one,
    rule: isOne ? name(one.rule) : `${name(one.project ?? "")} / ${name(one.rule)}`,
  });
  const left = projects.total - projects.first.length;
  const others = total - worst.length;
  return {
    title: `${alerts(total)} ${of} in ${where}, first: ${line(first, LONGEST_MESSAGE)}`,
    details: [
      ...rules.map(named).map(ofRule),
      ...(more.rules > 0 ? [`${more.rules} more rules: ${alerts(more.alerts)}`] : []),
      ...(rules.some((rule) => openOf(rule) > 0)
        ? [
            `Acknowledge all: ${projects.first
              .map((project) => command(project, count === 1 ? only?.rule : undefined))
              .join("\n")}`,
            ...(left > 0 ? [`and so for ${left} more projects`] : []),
          ]
        : []),
      ...worst.map(named).map(ofAlert),
      ...(others > 0 ? [`and ${others} more`] : []),
    ],
  };
}

function alerts(n: number): string {
  return n === 1 ? "1 alert" : `${n} alerts`;
}

const openOf = ({ total, acknowledged, resolved }: RuleCount) => total - acknowledged - resolved;

function ofRule(counted: RuleCount): string {
  const { rule, total, acknowledged, resolved } = counted;
  const parts = [
    [openOf(counted), "open"],
    [acknowledged, "acknowledged"],
    [resolved, "opened and resolved"],
  ] as const;
  const states = parts.filter(([n]) => n > 0).map(([n, state]) => `${n} ${state}`);
  return `${rule}: ${alerts(total)} (${states.join(", ")})`;
}

function ofAlert({ id, rule, level, state, message }: SummaryAlert): string {
  const now = state === "open" ? "" : state === "resolved" ? ", opened and resolved" : `, ${state}`;
  return `#${id} ${levelName(level)}${now} · ${rule}: ${line(message, LONGEST_MESSAGE)}`;
}

function command(project: string, rule: string | undefined): string {
  return [
    "box ack --all --project",
    shellQuoted(project),
    ...(rule === undefined ? [] : ["--rule", shellQuoted(rule)]),
  ].join(" ");
}

const name = (text: string): string => line(text, LONGEST_NAME);

function line(text: string, most: number): string {
  return ellipsis(inOneLine(text), most);
}
