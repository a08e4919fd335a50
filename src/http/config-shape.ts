import { z } from "zod";
import { flag, integer, list, pathName, text } from "./fields.ts";
import { actionEvent, actionMethod } from "./resources/actions.ts";
import { events, integrationType } from "./resources/integrations.ts";
import { layer } from "./resources/oncall.ts";
import { ruleFields, ruleName, step } from "./resources/rules.ts";

/** Who is named by email. */
const email = text(320, 1);

/** A list whose items are told apart by name. */
function named<T extends z.ZodType<{ name: string }>>(item: T, max: number) {
  return list(item, max)
    .superRefine((items, context) => {
      const seen = new Set<string>();
      for (const [i, { name }] of (items as { name: string }[]).entries()) {
        if (seen.has(name))
          context.addIssue({ code: "custom", path: [i, "name"], message: "is there twice" });
        seen.add(name);
      }
    })
    .default([]);
}

/**
 * A project's configuration, whole (its meaning: config-file/shape.ts). `secret` is how a credential is
 * written: over the interface as a value, in a file as a reference.
 */
export function configShape<S extends z.ZodType>(secret: S) {
  const source = z.strictObject({ name: pathName(128), retain_logs: flag.default(false) });
  const schedule = z.strictObject({
    name: pathName(128),
    timezone: text(100, 1),
    layers: list(layer.extend({ participants: list(email, 100) }), 50).default([]),
  });
  const action = z.strictObject({
    name: text(128, 1),
    method: actionMethod,
    url: text(2048, 1),
    headers: z.record(z.string(), secret).default({}),
    body: z.union([secret, z.null()]).default(null),
    enabled: flag.default(true),
    events: list(actionEvent, 2).default(["alert.opened"]),
    timeout_seconds: integer(0, 60).default(0),
  });
  const integration = z.strictObject({
    name: text(128).default(""),
    type: integrationType,
    url: text(2048).optional().meta({ description: "webhook" }),
    secret: secret.optional().meta({ description: "webhook" }),
    token: secret.optional().meta({ description: "telegram" }),
    chat_id: secret.optional().meta({ description: "telegram" }),
    webhook_url: secret.optional().meta({ description: "slack" }),
    enabled: flag.default(true),
    events: events.default([]),
  });
  const rule = z.strictObject({
    name: ruleName,
    ...ruleFields,
    actions: list(text(128, 1), 100).nullable().default(null),
    escalations: list(step.extend({ accounts: list(email, 20).default([]) }), 10).default([]),
  });
  return {
    sources: named(source, 1000),
    schedules: named(schedule, 1000),
    actions: named(action, 1000),
    integrations: list(integration, 1000).default([]),
    rules: named(rule, 1000),
  };
}

const kept = z.literal("kept");

/** A credential as the interface takes it. */
const given = z.union([kept, z.strictObject({ value: text(8192) })], {
  error: 'must be "kept" or an object with a value',
});

/** A credential as a file names it: where it is found when the file is applied. */
const reference = z.union(
  [kept, z.strictObject({ env: text(256, 1) }), z.strictObject({ file: text(4096, 1) })],
  { error: 'must be "kept", {env: NAME} or {file: path}' },
);

export const projectConfig = z.strictObject(configShape(given)).meta({ id: "ProjectConfig" });

/** The file of `box config`. */
export const configFile = z.strictObject({
  format: z.literal(1),
  projects: named(z.strictObject({ name: pathName(128), ...configShape(reference) }), 1000),
});
