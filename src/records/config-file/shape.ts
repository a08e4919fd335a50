import * as z from "zod";
import { MOST_OVERRIDES } from "../../core/oncall/overrides.ts";
import { covers, layer, scheduleName, scheduleTimezone } from "../../core/oncall/schedule.ts";
import { actionEvent, actionFields, actionTimeout } from "../../core/projects/action.ts";
import { bounds } from "../../core/projects/bounds.ts";
import {
  integrationEvents,
  sharingFields,
  stormThreshold,
  templateText,
} from "../../core/projects/integration.ts";
import { hasPause, ladderFields, ladderName, pauseFault } from "../../core/projects/ladder.ts";
import { projectName, projectPatch } from "../../core/projects/project.ts";
import { escalationStep, ruleFields, ruleName } from "../../core/projects/rule.ts";
import { nameScope, sourceKind, sourceName, sourceOptions } from "../../core/projects/source.ts";
import { boolean, list, text } from "../../ground/kit/fields.ts";
import { madeOnce } from "../../ground/kit/made-once.ts";
import { type ChannelList, type CredentialField, channels } from "../../out/services/list.ts";
import { heartbeatConfig } from "./heartbeats.ts";
import { importedConfig, importedFrom } from "./imported.ts";
import { fileMaintenance, type MaintenanceConfig, maintenanceConfig } from "./maintenance.ts";
import { fileOverride, type OverrideConfig, overrideConfig } from "./overrides.ts";
import { readTime, writtenTime } from "./written-time.ts";

/** A person, by email. */
const email = text(320, 1);

/** A list whose items have different names. */
export function named<T extends z.ZodType<{ name: string }>>(item: T, max: number) {
  return list(item, max)
    .superRefine((items, context) => {
      const seen = new Set<string>();
      for (const [i, { name }] of (items as { name: string }[]).entries()) {
        if (seen.has(name))
          context.addIssue({ code: "custom", path: [i, "name"], message: "is in the list twice" });
        seen.add(name);
      }
    })
    .default([]);
}

const source = z.strictObject({
  name: sourceName,
  retain_logs: boolean.default(false),
  kind: sourceKind.default("events"),
  /** Left out: the default of the kind. */
  room: nameScope.optional(),
  options: sourceOptions.default({}),
  imported_from: importedFrom,
});
export type SourceConfig = z.output<typeof source>;

const participants = list(email.nullable(), 100);

/** `participants` are emails; null: a turn in which nobody is on call. */
const schedule = z.strictObject({
  name: scheduleName,
  timezone: scheduleTimezone,
  layers: list(layer.extend({ participants }), 50).default([]),
  /** Ladders of every project may name it, as `{project}/{schedule}`. */
  shared: boolean.default(false),
  /** A shift's beginning is pushed to the devices of the person on call. */
  shift_check: boolean.default(true),
  /** Who takes over and who hands over get a silent note. */
  hand_over: boolean
    .default(false)
    .describe(
      "Both people get a silent note at each hand-over. The file turns it on: without it, off.",
    ),
  /** When somebody should be on call. Other times without anybody are no gap. */
  covers: covers.default("always"),
  /** Left out: they stay as they are. */
  overrides: list(overrideConfig, MOST_OVERRIDES).optional(),
  imported_from: importedFrom,
});
export type ScheduleConfig = z.output<typeof schedule>;

/** As `schedule`. The start of a layer and the times of an override are in the schedule's zone, or Unix seconds. */
const fileSchedule = schedule
  .extend({
    layers: list(layer.extend({ participants, rotation_start: writtenTime }), 50).default([]),
    overrides: list(fileOverride, MOST_OVERRIDES).optional(),
  })
  .transform((given, context): ScheduleConfig => {
    const read = (written: string | number, path: (string | number)[]) =>
      readTime(written, given.timezone, { context, path });
    const layers = given.layers.map((layer, i) => ({
      ...layer,
      rotation_start: read(layer.rotation_start, ["layers", i, "rotation_start"]),
    }));
    const overrides = given.overrides?.map(
      (one, i): OverrideConfig => ({
        ...one,
        starts_at: read(one.starts_at, ["overrides", i, "starts_at"]),
        ends_at: read(one.ends_at, ["overrides", i, "ends_at"]),
      }),
    );
    const { overrides: _written, ...rest } = given;
    return { ...rest, layers, ...(overrides === undefined ? {} : { overrides }) };
  });

/** In the ladder, `accounts` are emails and `actions` names. */
const rule = z.strictObject({
  name: ruleName,
  ...ruleFields,
  actions: list(text(128, 1), 100).nullable().default(null),
  escalations: list(escalationStep.extend({ accounts: list(email, 20).default([]) }), 10).default(
    [],
  ),
  imported_from: importedFrom,
});
export type RuleConfig = z.output<typeof rule>;

/** A ladder of the tenant. `accounts` are emails. */
export const ladderConfig = z
  .strictObject({
    name: ladderName,
    ...ladderFields,
    steps: list(escalationStep.extend({ accounts: list(email, 20).default([]) }), 10).default([]),
    imported_from: importedFrom,
  })
  .refine(hasPause, pauseFault);
export type LadderConfig = z.output<typeof ladderConfig>;

function actionShape<S extends z.ZodType>(secret: S) {
  return z.strictObject({
    ...actionFields,
    headers: z.record(z.string(), secret).default({}),
    body: z.union([secret, z.null()]).default(null),
    enabled: boolean.default(true),
    events: list(actionEvent, 2).default(["alert.opened"]),
    timeout_seconds: actionTimeout.default(0),
  });
}

type SecretField = Exclude<CredentialField, "url">;

export const isSecretField = (field: string): field is SecretField =>
  field !== "url" && Object.hasOwn(channels.fields, field);

/** A `url` is written as text, every other field as a secret. */
function integrationShape<S extends z.ZodType>(secret: S, { type, fields }: ChannelList) {
  const { url, ...others } = fields;
  const secrets = Object.entries(others).map(([name, field]) => [
    name,
    secret.optional().meta({ description: field.meta()?.description }),
  ]);
  return z.strictObject({
    name: text(128).default(""),
    type,
    url,
    ...(Object.fromEntries(secrets) as Record<SecretField, z.ZodOptional<S>>),
    enabled: boolean.default(true),
    /** Empty: every kind. */
    events: integrationEvents.default([]),
    /** The channel's own texts. Empty: the default. */
    title_template: templateText.default(""),
    body_template: templateText.default(""),
    /** Left out: the default of a chat, no limit for other kinds. */
    storm_threshold: stormThreshold.optional(),
    shared: sharingFields.shape.shared.default(false),
    except: sharingFields.shape.except.default([]),
    imported_from: importedFrom,
  });
}

/**
 * A project's configuration as one value: for reading, for applying and, with references for its secrets, for a file.
 * It names people by email and actions by name, so it means the same on another box. Lists are complete: an item that
 * isn't in the list is deleted from the project. `secret`: how a credential is written, as a value in the API or as a
 * reference in a file.
 */
function projectShape<
  S extends z.ZodType,
  C extends z.ZodType<ScheduleConfig>,
  W extends z.ZodType<MaintenanceConfig>,
>(secret: S, kinds: ChannelList, { schedules, windows }: { schedules: C; windows: W }) {
  return {
    /** Left out: it stays as it is. null: none. */
    default_ladder: projectPatch.shape.default_ladder,
    sources: named(source, 1000),
    schedules: named(schedules, 1000),
    actions: named(actionShape(secret), 1000),
    integrations: list(integrationShape(secret, kinds), 1000).default([]),
    rules: named(rule, 1000),
    /** Left out: they stay as they are. The addresses of a deleted heartbeat would be lost. */
    heartbeats: named(heartbeatConfig, 500).unwrap().optional(),
    /** Left out: it stays as it is. */
    maintenance: named(windows, 500).unwrap().optional(),
    imported: list(importedConfig, 5000).optional().meta({
      description: "What imports made of it, ladders of the tenant among them.",
    }),
    /** Never read. */
    imported_from: text(64, 1).optional().meta({
      description:
        "This is an import from the system of this name. Parts that it doesn't name stay, and so does what was changed by hand since the last import.",
    }),
  };
}

const kept = z.literal("kept");

/** A credential in the API: "kept" (a webhook without one gets a new secret), or a new value. */
const given = z.union([kept, z.strictObject({ value: text(8192) })], {
  error: 'must be "kept" or an object with a value',
});
export type Secret = z.output<typeof given>;

/** A credential in a file: where to read it when the file is applied. */
export const reference = z.union(
  [kept, z.strictObject({ env: text(256, 1) }), z.strictObject({ file: text(4096, 1) })],
  { error: 'must be "kept", {env: NAME} or {file: path}' },
);
export type Reference = z.output<typeof reference>;

/** The schema of the API, with the credentials of these kinds of channel. */
export const projectConfigOf = madeOnce(
  (kinds: ChannelList) =>
    z
      .strictObject({
        ...projectShape(given, kinds, { schedules: schedule, windows: maintenanceConfig }),
        /** Never read. */
        ladders: named(ladderConfig, bounds.ladders).unwrap().optional().meta({
          description:
            "Of an import alone: ladders of the tenant, which its rules refer to. A file has them under `tenant`.",
        }),
      })
      .meta({ id: "ProjectConfig" }),
  (kinds) => kinds,
);
export type ProjectConfig = z.output<ReturnType<typeof projectConfigOf>>;
export type ActionConfig = ProjectConfig["actions"][number];
export type IntegrationConfig = ProjectConfig["integrations"][number];

export const fileProject = z.strictObject({
  name: projectName,
  ...projectShape(reference, channels, { schedules: fileSchedule, windows: fileMaintenance }),
});
/** A project as a file contains it, with references for its credentials. */
export type ProjectWithReferences = Omit<z.output<typeof fileProject>, "name">;
