import { findRule } from "../projects/rules.ts";
import type { Reader } from "../store/store.ts";
import type { AlertRow } from "./alert.ts";

/** The actions an alert's rule names; null (every subscribed one) also when the rule is gone. */
export function ruleActions(reader: Reader, row: AlertRow): readonly string[] | null {
  return findRule(reader, row.rule_id)?.actions ?? null;
}
