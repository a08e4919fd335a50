import type { Reader } from "../../ground/store/store.ts";
import type { Fallback } from "../../out/contacts/contact.ts";
import { owners, readFallback } from "../../out/contacts/notify.ts";
import type { Reachable } from "../../out/paging/reachable.ts";
import type { EscalationStep } from "../projects/rule.ts";
import type { AlertRow } from "./alert.ts";
import type { LadderRun } from "./ladder.ts";
import type { OnCallLookup, StepRecipients } from "./reach.ts";

/** Whether nobody on a whole ladder can be reached, and who is paged then: decided here, for whoever does it or says it. */

/** Whether the ladder's top has run and nothing reaches anybody on it, as far as that is known. Pure. */
export function isNobodyReached(
  row: Pick<AlertRow, "project_id" | "level">,
  ladder: readonly EscalationStep[],
  {
    climbed,
    reach,
    reachable,
  }: { climbed: LadderRun; reach: StepRecipients; reachable: Reachable },
): boolean {
  if (climbed.step < ladder.length || !reachable.isKnown) return false;
  const of = { projectId: row.project_id, level: row.level };
  const isReached = (account: string) => reachable.reaches(account, of);
  return !ladder.some((step) => reach(row.project_id, step).some(isReached));
}

/** The tenant's fallback stands in no project: only a whole name means something there. */
export const NOWHERE = 0;

/** Who is paged where nobody else is, and by what; schedules as `{project}/{schedule}`. */
export interface FallbackPlaces extends Readonly<Fallback> {
  owners: readonly string[];
}

export const readFallbackPlaces = (reader: Reader): FallbackPlaces => ({
  ...readFallback(reader),
  owners: owners(reader),
});

/** Those whom the fallback names and its schedules have on call at `at`; every owner, too, where nothing reaches any of them. Pure. */
export function fallbackPeople(
  { accounts, schedules, owners: all }: FallbackPlaces,
  { at, isReached }: { at: number; isReached(account: string): boolean },
  { isMember, onCall }: OnCallLookup,
): string[] {
  const duty = schedules.flatMap((name) => onCall({ projectId: NOWHERE, name }, at));
  const there = [...new Set([...accounts, ...duty])].filter(isMember);
  return there.some(isReached) ? there : [...new Set([...there, ...all])];
}
