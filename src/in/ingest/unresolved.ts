import { countUnresolved } from "../../core/alerts/too-many.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import type { Note, Tx } from "../../ground/store/store.ts";

/**
 * The number of unresolved alerts of each rule: counted once in the table, then updated from commits. Changes by the
 * open batch count at once, and are dropped if the batch is undone.
 */
export type Unresolved = ReturnType<typeof createUnresolved>;

export function createUnresolved(rules: number) {
  let known = new ForgetfulMap<number, number>(rules);
  const open = new Map<number, number>();

  return {
    of(tx: Tx, rule: { id: number; project_id: number }): number {
      const more = open.get(rule.id) ?? 0;
      const before = known.get(rule.id);
      if (before !== undefined) return before + more;
      const now = countUnresolved(tx, rule);
      known.set(rule.id, now - more);
      return now;
    },
    /** A change by the open batch. */
    saw(note: Note) {
      if (note.topic === "alert" && note.unresolved !== 0)
        open.set(note.ruleId, (open.get(note.ruleId) ?? 0) + note.unresolved);
    },
    /** A committed change, also one of the batch itself. */
    committed(note: Note) {
      if (note.topic !== "alert" || note.unresolved === 0) return;
      const before = known.get(note.ruleId);
      if (before !== undefined) known.set(note.ruleId, before + note.unresolved);
    },
    /** The batch is over, committed or not. */
    reset: () => open.clear(),
    clear() {
      known = new ForgetfulMap(rules);
    },
  };
}
