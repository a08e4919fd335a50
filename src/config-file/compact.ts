import { dated, wallTime } from "../kit/wall-time.ts";
import { USUAL_STORM } from "../projects/integration.ts";
import type {
  ActionConfig,
  IntegrationConfig,
  ProjectConfig,
  RuleConfig,
  ScheduleConfig,
} from "./shape.ts";

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

function compactSchedule({ name, timezone, shared, layers }: ScheduleConfig): Fields {
  const compact = layers.map((layer) => {
    const { restriction, ...rest } = layer;
    const timed = { ...rest, rotation_start: startText(layer.rotation_start, timezone) };
    return restriction === null
      ? timed
      : { ...timed, restriction: without({ ...restriction }, { days: [] }) };
  });
  return without({ name, timezone, shared, layers: compact }, { shared: false, layers: [] });
}

/** As the zone's clocks show it, where that says it all: to the minute, and not one that comes twice. */
function startText(seconds: number, timezone: string): string | number {
  const shown = wallTime(seconds, timezone);
  return dated(shown, timezone) === seconds ? shown : seconds;
}

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
