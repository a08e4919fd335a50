import { countUnresolved } from "../../core/alerts/too-many.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import type { Note, Tx } from "../../ground/store/store.ts";

/**
 * How many alerts of each rule aren't resolved: counted once from the table, then kept by what commits say. What the
 * open batch does counts at once, and never was where the batch is undone.
 */
export interface Unresolved {
  of(tx: Tx, rule: { id: number; project_id: number }): number;
  /** The open batch did this. */
  saw(note: Note): void;
  /** A commit did this, the batch's own too. */
  committed(note: Note): void;
  /** The batch is over, either way. */
  reset(): void;
  clear(): void;
}

export function createUnresolved(rules: number): Unresolved {
  /** As committed. */
  let known = new ForgetfulMap<number, number>(rules);
  const open = new Map<number, number>();

  return {
    of(tx, rule) {
      const more = open.get(rule.id) ?? 0;
      const before = known.get(rule.id);
      if (before !== undefined) return before + more;
      const now = countUnresolved(tx, rule);
      known.set(rule.id, now - more);
      return now;
    },
    saw(note) {
      if (note.topic === "alert" && note.unresolved !== 0)
        open.set(note.ruleId, (open.get(note.ruleId) ?? 0) + note.unresolved);
    },
    committed(note) {
      if (note.topic !== "alert" || note.unresolved === 0) return;
      const before = known.get(note.ruleId);
      if (before !== undefined) known.set(note.ruleId, before + note.unresolved);
    },
    reset: () => open.clear(),
    clear() {
      known = new ForgetfulMap(rules);
    },
  };
}
