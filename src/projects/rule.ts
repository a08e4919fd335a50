/** A rule as it is stored and compiled: everything given or at its default (api §2, decisions §5). */

export interface RuleMatch {
  /** Lowest level that matches; null = any. */
  min_level: number | null;
  /** Source names, any of; empty = any. */
  sources: string[];
  /** Any of; empty = any. */
  tags: string[];
  /** Case-sensitive substring of the template's text; empty = any. */
  template_contains: string;
}

export type ConditionOp = "eq" | "neq" | "gte" | "lte";

export interface Condition {
  key: string;
  op: ConditionOp;
  value: string | number | boolean;
}

export interface EscalationStep {
  accounts: string[];
  /** Schedule names. */
  schedules: string[];
  after_minutes: number;
  repeat_minutes: number;
}

export interface RuleBody {
  match: RuleMatch;
  conditions: Condition[];
  fire_after: { count: number; distinct_sources: number; window_minutes: number };
  dedup_window_minutes: number;
  auto_resolve_quiet_minutes: number;
  renotify_minutes: number;
  max_renotify: number;
  identifier_keys: string[];
  investigate: boolean;
  /** Action ids; null = every enabled action whose events name the event. */
  actions: string[] | null;
  escalations: EscalationStep[];
}

export interface StoredRule extends RuleBody {
  id: number;
  project_id: number;
  name: string;
  created_at: number;
  updated_at: number;
}
