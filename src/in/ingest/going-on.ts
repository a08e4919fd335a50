import { findReopenable } from "../../core/alerts/reopen.ts";
import type { Note, Tx } from "../../ground/store/store.ts";
import type { CompiledRule } from "./match.ts";
import type { OpenAlerts } from "./open-alerts.ts";
import type { Unresolved } from "./unresolved.ts";

/** Of rules that ask for new templates: whether an event of a known one goes on with an alert. */
export interface GoingOn {
  /** Whether the key has an unresolved alert, or one that the rule reopens. */
  has(tx: Tx, rule: CompiledRule, key: string): boolean;
  /** Whether any key of the rule may have one. */
  hasAny(tx: Tx, rule: CompiledRule): boolean;
  /** A change of an alert or rule, by the open batch or committed. */
  noted(note: Note): void;
  clear(): void;
}

const MOST_AT_REST = 20_000;

export function createGoingOn(openAlerts: OpenAlerts, unresolved: Unresolved): GoingOn {
  /** Keys that have none. */
  const atRest = new Set<string>();
  const hasAny: GoingOn["hasAny"] = (tx, { rule }) =>
    rule.reopen_within_seconds > 0 || unresolved.of(tx, rule) > 0;
  return {
    hasAny,
    has(tx, compiled, key) {
      const { reopen_within_seconds: again, auto_resolve_quiet_minutes: quiet } = compiled.rule;
      if (!hasAny(tx, compiled)) return false;
      if (atRest.has(key)) return false;
      if (openAlerts.find(tx, key, quiet * 60) !== null) return true;
      if (findReopenable(tx, key, again) !== null) return true;
      if (atRest.size >= MOST_AT_REST) atRest.clear();
      atRest.add(key);
      return false;
    },
    noted(note) {
      const isBack = note.topic === "alert" && note.unresolved > 0;
      if (isBack || note.topic === "config" || note.topic === "clock") atRest.clear();
    },
    clear: () => atRest.clear(),
  };
}
