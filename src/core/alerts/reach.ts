import type { Reader } from "../../ground/store/store.ts";
import { type OnCallSeat, onCallNow, readSeat } from "../oncall/duty.ts";
import type { EscalationStep } from "../projects/rule.ts";
import type { SchedulePlace } from "../projects/schedule-names.ts";

/**
 * Whom a step pages now: its accounts, then whoever its schedules have on call, each once. An account
 * that was removed reaches nobody (contract §5, Ladder).
 */
export type StepRecipients = (
  projectId: number,
  step: Pick<EscalationStep, "accounts" | "schedules">,
) => readonly string[];

/** Where a reach looks who is there and who is on call. */
export interface OnCallLookup {
  isMember(account: string): boolean;
  /** The accounts that the schedule has on call at `at`, Unix seconds. */
  onCall(schedule: SchedulePlace, at: number): readonly string[];
}

/** As the store says it now; what it was asked last it knows. */
export function storedSeats(reader: Reader): OnCallLookup {
  const known = new Map<string, { at: number; accounts: readonly string[] }>();
  return {
    isMember: memberIn(reader),
    onCall(schedule, at) {
      const key = keyOf(schedule);
      const last = known.get(key);
      if (last?.at === at) return last.accounts;
      const accounts = onCallNow(reader, schedule, at);
      known.set(key, { at, accounts });
      return accounts;
    },
  };
}

const keyOf = ({ projectId, name }: SchedulePlace) => `${projectId}:${name}`;

/** The same for many times: each schedule is read once, with all its overrides. */
export function readSeats(
  reader: Reader,
): OnCallLookup & { seat(place: SchedulePlace): OnCallSeat | null } {
  const known = new Map<string, OnCallSeat | null>();
  const seat = (place: SchedulePlace) => {
    const key = keyOf(place);
    return known.getOrInsertComputed(key, () => readSeat(reader, place));
  };
  return {
    isMember: memberIn(reader),
    onCall: (place, at) => seat(place)?.at(at).accounts ?? [],
    seat,
  };
}

function memberIn(reader: Reader): OnCallLookup["isMember"] {
  const members = new Map<string, boolean>();
  return (account) => {
    let known = members.get(account);
    if (known === undefined) {
      const found = reader.sql<[account: string]>("SELECT 1 FROM accounts WHERE id = ?");
      known = found.get(account) !== undefined;
      members.set(account, known);
    }
    return known;
  };
}

/** Answers for `at` (Unix seconds), and in a store for one transaction; what it looked up once it knows. */
export function createReach(
  at: number,
  { isMember, onCall: seatAt }: OnCallLookup,
): StepRecipients {
  const onDuty = new Map<string, readonly string[]>();
  const onCall = (projectId: number, name: string): readonly string[] => {
    const key = `${projectId}:${name}`;
    return onDuty.getOrInsertComputed(key, () => seatAt({ projectId, name }, at));
  };

  return (projectId, step) => {
    const duty = step.schedules.flatMap((name) => onCall(projectId, name));
    return [...new Set([...step.accounts, ...duty])].filter(isMember);
  };
}
