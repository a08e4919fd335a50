import { onCallNow } from "../oncall/duty.ts";
import type { EscalationStep } from "../projects/rule.ts";
import type { Tx } from "../store/store.ts";

/**
 * Whom a step pages now: its accounts, then whoever its schedules have on call, each once. An account
 * that was removed reaches nobody (contract §5, Ladder).
 */
export type Reach = (projectId: number, step: EscalationStep) => readonly string[];

/** Answers for one transaction, and for its time or another (Unix seconds); what it looked up once it knows. */
export function createReach(tx: Tx, at = tx.at): Reach {
  const members = new Map<string, boolean>();
  const onDuty = new Map<string, string | null>();

  const isMember = (account: string): boolean => {
    let known = members.get(account);
    if (known === undefined) {
      known =
        tx.sql<[account: string]>("SELECT 1 FROM accounts WHERE id = ?").get(account) !== undefined;
      members.set(account, known);
    }
    return known;
  };
  const onCall = (projectId: number, name: string): string | null => {
    const key = `${projectId}:${name}`;
    let known = onDuty.get(key);
    if (known === undefined) {
      known = onCallNow(tx, { projectId, name }, at);
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
