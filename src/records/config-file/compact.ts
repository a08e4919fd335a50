import { USUAL_STORM } from "../../core/projects/integration.ts";
import type { MaintenanceConfig } from "./maintenance.ts";
import type {
  ActionConfig,
  IntegrationConfig,
  ProjectConfig,
  RuleConfig,
  ScheduleConfig,
} from "./shape.ts";
import { writeTime } from "./written-time.ts";

type Fields = Record<string, unknown>;

/** A project as it stands in a file: what is at its default is left out. */
export function compactProject(name: string, config: ProjectConfig): Fields {
  return without(
    {
      name,
      sources: config.sources.map((source) =>
        without({ ...source }, { retain_logs: false, kind: "events", options: {} }),
      ),
      schedules: config.schedules.map(compactSchedule),
      actions: config.actions.map(compactAction),
      integrations: config.integrations.map(compactIntegration),
      rules: config.rules.map(compactRule),
      ...(config.heartbeats === undefined
        ? {}
        : { heartbeats: config.heartbeats.map((one) => without({ ...one }, usualPace)) }),
      ...(config.maintenance === undefined
        ? {}
        : { maintenance: config.maintenance.map(compactMaintenance) }),
    },
    { sources: [], schedules: [], actions: [], integrations: [], rules: [] },
  );
}

const usualPace = {
  timezone: "UTC",
  grace_seconds: 300,
  max_run_seconds: null,
  level: 400,
  watch: null,
};

function compactSchedule({ layers, ...schedule }: ScheduleConfig): Fields {
  const compact = layers.map((layer) => {
    const { restriction, ...rest } = layer;
    const timed = { ...rest, rotation_start: writeTime(layer.rotation_start, schedule.timezone) };
    return restriction === null
      ? timed
      : { ...timed, restriction: without({ ...restriction }, { days: [] }) };
  });
  const { name, timezone, shared, shift_check, covers } = schedule;
  const overrides = schedule.overrides?.map(({ person, starts_at, ends_at }) => ({
    person,
    starts_at: writeTime(starts_at, timezone),
    ends_at: writeTime(ends_at, timezone),
  }));
  return without(
    {
      ...{ name, timezone, shared, shift_check, covers, layers: compact },
      ...(overrides && { overrides }),
    },
    { shared: false, shift_check: true, covers: "always", layers: [] },
  );
}

function compactMaintenance({ name, match, ...rest }: MaintenanceConfig): Fields {
  const time = (seconds: number) => writeTime(seconds, rest.timezone);
  return without(
    {
      name,
      match: without({ ...match }, everyAlert),
      ...rest,
      ...{ starts_at: time(rest.starts_at), ends_at: time(rest.ends_at) },
      repeat_until: time(rest.repeat_until),
    },
    { match: {}, conditions: [], critical: false, all: false, timezone: "UTC" },
  );
}

const everyAlert = {
  ...{ rule: null, template_id: null, identifiers: {}, sources: [], below_level: null },
};

function compactAction(action: ActionConfig): Fields {
  return without(
    { ...action },
    { headers: {}, body: null, enabled: true, events: ["alert.opened"], timeout_seconds: 0 },
  );
}

function compactIntegration(integration: IntegrationConfig): Fields {
  return without(
    { ...integration },
    {
      ...{ name: "", enabled: true, events: [], storm_threshold: USUAL_STORM },
      ...{ title_template: "", body_template: "", shared: false, except: [] },
    },
  );
}

const noMatch = { min_level: null, sources: [], tags: [], template_contains: "" };
const oneEvent = { count: 1, distinct_sources: 1, window_minutes: 1 };

function compactRule(rule: RuleConfig): Fields {
  const { name, match, conditions, fire_after, escalations, ...rest } = rule;
  return without(
    {
      name,
      match: without({ ...match }, noMatch),
      conditions,
      fire_after: without({ ...fire_after }, oneEvent),
      ...rest,
      escalations: escalations.map((step) =>
        without({ ...step }, { accounts: [], schedules: [], after_minutes: 0, repeat_minutes: 0 }),
      ),
    },
    {
      ...{ match: {}, conditions: [], fire_after: {}, dedup_window_minutes: 0 },
      ...{ auto_resolve_quiet_minutes: 0, renotify_minutes: 0, max_renotify: 0 },
      ...{ identifier_keys: [], investigate: false, actions: null, escalations: [] },
      ...{ ends_with_source: true, reopen_within_seconds: 0, max_open: 200, runbook_url: "" },
    },
  );
}

function without(fields: Fields, defaults: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([key, value]) =>
        !(key in defaults && JSON.stringify(value) === JSON.stringify(defaults[key])),
    ),
  );
}
