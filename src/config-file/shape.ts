import type { Layer } from "../oncall/schedule.ts";
import type { RuleBody } from "../projects/rule.ts";
import type { IntegrationType } from "../store/schema.ts";

/**
 * A project's configuration as one value: what is read, what is applied, and, with other words for its
 * secrets, what stands in a file. People are named by email and actions by name, so that it means the
 * same on another box. Lists are whole: what isn't in them isn't in the project.
 */
export interface ProjectConfig {
  sources: { name: string; retain_logs: boolean }[];
  schedules: ScheduleConfig[];
  actions: ActionConfig[];
  integrations: IntegrationConfig[];
  rules: RuleConfig[];
}

/** A credential: as it is stored (where there is none, a webhook's is minted), or another one. */
export type Secret = "kept" | { value: string };

export interface ScheduleConfig {
  name: string;
  timezone: string;
  /** `participants` are emails. */
  layers: Layer[];
}

export interface ActionConfig {
  name: string;
  method: string;
  url: string;
  headers: Record<string, Secret>;
  body: Secret | null;
  enabled: boolean;
  events: string[];
  timeout_seconds: number;
}

export interface IntegrationConfig {
  name: string;
  type: IntegrationType;
  /** webhook */
  url?: string | undefined;
  secret?: Secret | undefined;
  /** telegram */
  token?: Secret | undefined;
  chat_id?: Secret | undefined;
  /** slack */
  webhook_url?: Secret | undefined;
  enabled: boolean;
  /** Empty = every kind. */
  events: string[];
}

/** `accounts` of the ladder are emails, `actions` names. */
export interface RuleConfig extends RuleBody {
  name: string;
}

/** The credentials of each type, which reads never show. */
export const secretFields = {
  webhook: ["secret"],
  telegram: ["token", "chat_id"],
  slack: ["webhook_url"],
  apns: [],
} as const satisfies Record<IntegrationType, readonly (keyof IntegrationConfig)[]>;
