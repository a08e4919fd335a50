import { USUAL_STORM } from "../../core/projects/integration.ts";
import { withoutDefaults } from "../../ground/kit/field-kind.ts";
import { channels } from "../../out/services/list.ts";
import type { MaintenanceConfig } from "./maintenance.ts";
import {
  type IntegrationConfig,
  type ProjectConfig,
  projectConfigOf,
  type ScheduleConfig,
} from "./shape.ts";
import { writeTime } from "./written-time.ts";

type Fields = Record<string, unknown>;

const projectConfig = projectConfigOf(channels);

/** A project as a file contains it: times in their zones, and without values that equal their defaults. */
export function compactProject(name: string, config: ProjectConfig): Fields {
  const { schedules, integrations, maintenance, ...rest } = config;
  const written = {
    ...rest,
    schedules: schedules.map(scheduleInWords),
    integrations: integrations.map(withoutUsualStorm),
    ...(maintenance === undefined ? {} : { maintenance: maintenance.map(maintenanceInWords) }),
  };
  return { name, ...(withoutDefaults(projectConfig, written) as Fields) };
}

function scheduleInWords({ layers, overrides, ...schedule }: ScheduleConfig): Fields {
  const time = (seconds: number) => writeTime(seconds, schedule.timezone);
  return {
    ...schedule,
    layers: layers.map((layer) => ({ ...layer, rotation_start: time(layer.rotation_start) })),
    ...(overrides && {
      overrides: overrides.map(({ person, starts_at, ends_at }) => ({
        person,
        starts_at: time(starts_at),
        ends_at: time(ends_at),
      })),
    }),
  };
}

function maintenanceInWords(window: MaintenanceConfig): Fields {
  const time = (seconds: number) => writeTime(seconds, window.timezone);
  return {
    ...window,
    starts_at: time(window.starts_at),
    ends_at: time(window.ends_at),
    repeat_until: time(window.repeat_until),
  };
}

/** Without the field, a file means the default of the channel's kind. */
function withoutUsualStorm(integration: IntegrationConfig): Fields {
  const { storm_threshold, ...rest } = integration;
  return storm_threshold === USUAL_STORM ? rest : integration;
}
