import { findForLadder } from "../../../core/oncall/schedules.ts";
import type { Project } from "../../../core/projects/projects.ts";
import type { StoredRule } from "../../../core/projects/rule.ts";
import { dated, wallTime } from "../../../ground/kit/wall-time.ts";
import { listAccounts } from "../../../people/accounts.ts";
import type { PageCall } from "../screen.ts";

/** What is asked: all of it stands in the address, and means the same to whoever opens it. */
export interface LadderQuestion {
  project: Project;
  rule: StoredRule;
  /** On whose clocks times are written: those of the ladder's first schedule, else UTC. Not the reader's. */
  zone: string;
  /** Unix seconds. */
  at: number;
  /** null: as the rule has it. */
  level: number | null;
  /** Accounts that answer nothing. */
  silent: readonly string[];
  /** Whether the next fortnight is looked at, hour by hour. */
  isSwept: boolean;
}

export function questionIn(
  { query, now, tenant: { store } }: PageCall,
  { project, rule }: { project: Project; rule: StoredRule },
): LadderQuestion {
  const members = new Set(listAccounts(store).map(({ id }) => id));
  const named = rule.escalations.flatMap(({ schedules }) => schedules);
  const first = named[0] === undefined ? null : findForLadder(store, project, named[0]);
  const zone = first?.timezone ?? "UTC";
  const at = dated(query.get("at") ?? "", zone);
  const level = /^\d{1,6}$/.test(query.get("level") ?? "") ? Number(query.get("level")) : null;
  const silent = [...new Set((query.get("silent") ?? "").split(","))];
  return {
    project,
    rule,
    zone,
    level,
    at: at ?? now,
    silent: silent.filter((account) => members.has(account)).slice(0, 100),
    isSwept: query.get("sweep") === "14",
  };
}

/** The address of a question, with something of it changed; below the base. */
export function questionAddress(
  question: LadderQuestion,
  change: Partial<Pick<LadderQuestion, "at" | "silent" | "isSwept">> = {},
): string {
  const { project, rule, level, zone, at, silent, isSwept } = { ...question, ...change };
  const query = new URLSearchParams({
    project: project.name,
    rule: rule.name,
    at: atText(at, zone),
    ...(level === null ? {} : { level: String(level) }),
    ...(silent.length === 0 ? {} : { silent: silent.join(",") }),
    ...(isSwept ? { sweep: "14" } : {}),
  });
  return `/simulate?${query}`;
}

/** `2026-11-22T03:00` */
export function atText(at: number, zone: string): string {
  return wallTime(at, zone).replace(" ", "T");
}
