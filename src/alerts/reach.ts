import { onCallNow } from "../oncall/duty.ts";
import type { EscalationStep } from "../projects/rule.ts";
import type { Reader } from "../store/store.ts";

/**
 * Whom a step pages now: its accounts, then whoever its schedules have on call, each once. An account
 * that was removed reaches nobody (contract §5, Ladder).
 */
export type Reach = (projectId: number, step: EscalationStep) => readonly string[];

/** Where a reach looks who is there and who is on call. */
export interface Seats {
  isMember(account: string): boolean;
  /** The account that has the schedule's seat at `at`, Unix seconds; null: nobody. */
  onCall(schedule: { projectId: number; name: string }, at: number): string | null;
}

/** As the store says it now; members it asks for once. */
export function storedSeats(reader: Reader): Seats {
  const members = new Map<string, boolean>();
  return {
    isMember(account) {
      let known = members.get(account);
      if (known === undefined) {
        const found = reader.sql<[account: string]>("SELECT 1 FROM accounts WHERE id = ?");
        known = found.get(account) !== undefined;
        members.set(account, known);
      }
      return known;
    },
    onCall: (schedule, at) => onCallNow(reader, schedule, at),
  };
}

/** Answers for `at` (Unix seconds), and in a store for one transaction; what it looked up once it knows. */
export function createReach(at: number, { isMember, onCall: seatAt }: Seats): Reach {
  const onDuty = new Map<string, string | null>();
  const onCall = (projectId: number, name: string): string | null => {
    const key = `${projectId}:${name}`;
    let known = onDuty.get(key);
    if (known === undefined) {
      known = seatAt({ projectId, name }, at);
      onDuty.set(key, known);
    }
    return known;
  };

  return (projectId, step) => {
    const duty = step.schedules.map((name) => onCall(projectId, name));
    const named = [...step.accounts, ...duty].filter((account) => account !== null);
    return [...new Set(named)].filter(isMember);
  };
}
