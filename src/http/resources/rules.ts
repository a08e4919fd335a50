import { z } from "zod";
import { createRule, deleteRule, replaceRule } from "../../alerts/rules.ts";
import { ServiceError } from "../../kit/errors.ts";
import { getProject } from "../../projects/projects.ts";
import type { RuleBody, StoredRule } from "../../projects/rule.ts";
import { getRule, listRules } from "../../projects/rules.ts";
import { deleted, flag, hexId, integer, list, pathName, projectPath, text } from "../fields.ts";
import { type Route, route } from "../route.ts";

const rulePath = z.strictObject({ id: z.string(), name: z.string() });
/** A year, in minutes: keeps every due time a safe integer. */
const minutes = integer(0, 525_600);

const match = z.strictObject({
  min_level: integer(0).nullable().default(null),
  sources: list(text(128, 1), 100).default([]),
  tags: list(text(256, 1), 100).default([]),
  template_contains: text(500).default(""),
});

const condition = z.strictObject({
  key: text(256, 1),
  op: z.enum(["eq", "neq", "gte", "lte"], { error: "must be one of eq, neq, gte, lte" }),
  value: z.union([text(4096), z.number(), z.boolean()], {
    error: "must be a string, number or boolean",
  }),
});

const fireAfter = z.strictObject({
  count: integer(1, 1_000_000).default(1),
  distinct_sources: integer(1, 100_000).default(1),
  window_minutes: integer(1, 525_600).default(1),
});

export const step = z.strictObject({
  accounts: list(text(128, 1), 20).default([]),
  schedules: list(text(128, 1), 20).default([]),
  after_minutes: minutes.default(0),
  repeat_minutes: minutes.default(0),
});

export const ruleFields = {
  match: match.prefault({}),
  conditions: list(condition, 100).default([]),
  fire_after: fireAfter.prefault({}),
  dedup_window_minutes: minutes.default(0),
  auto_resolve_quiet_minutes: minutes.default(0),
  renotify_minutes: minutes.default(0),
  max_renotify: integer(0, 1_000_000).default(0),
  identifier_keys: list(text(256, 1), 32).default([]),
  investigate: flag.default(false),
  actions: list(hexId, 100).nullable().default(null),
  escalations: list(step, 10).default([]),
};

export const ruleName = pathName(200);
const createBody = z.strictObject({ name: ruleName, ...ruleFields }).meta({ id: "RuleWrite" });
const updateBody = z.strictObject({ name: ruleName.optional(), ...ruleFields });
const times = ["created_at", "updated_at"] as const;

const answer = z
  .object({
    name: z.string(),
    ...ruleFields,
    match: match.extend({ min_level: z.int().optional() }),
    actions: z.array(z.string()).optional(),
    created_at: z.int(),
    updated_at: z.int(),
  })
  .meta({ id: "Rule" });

/** The rule as it is read. `actions` is left out where it was: given and empty means none at all. */
function toRule(rule: StoredRule): object {
  const { id, project_id, actions, match, ...rest } = rule;
  const { min_level, ...others } = match;
  return {
    ...rest,
    match: { ...(min_level === null ? {} : { min_level }), ...others },
    ...(actions === null ? {} : { actions }),
  };
}

function bodyOf(body: z.infer<typeof createBody> | z.infer<typeof updateBody>): RuleBody {
  const { name: _name, ...rule } = body;
  return rule;
}

/** api §4, Rules. A PUT replaces the whole rule (decisions §5). */
export const ruleRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/projects/{id}/rules",
    name: "listRules",
    tag: "Rules",
    summary: "The project's rules, by name",
    plane: "api",
    params: projectPath,
    status: 200,
    answer: z.object({ rules: z.array(answer) }),
    errors: ["not_found"],
    handle: ({ tenant, params }) => ({
      rules: listRules(tenant.store, getProject(tenant.store, params.id).id).map(toRule),
    }),
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/rules",
    name: "createRule",
    tag: "Rules",
    summary: "Create a rule",
    plane: "api",
    params: projectPath,
    body: createBody,
    readOnly: times,
    status: 201,
    answer,
    errors: [
      "invalid_request",
      "invalid_json",
      "not_found",
      "name_taken",
      "not_a_member",
      "unknown_schedule",
      "unknown_action",
      "too_many",
    ],
    handle: ({ tenant, params, body }) =>
      toRule(
        tenant.store.write((tx) =>
          createRule(tx, getProject(tx, params.id), { name: body.name, body: bodyOf(body) }),
        ),
      ),
  }),
  route({
    method: "GET",
    path: "/v1/projects/{id}/rules/{name}",
    name: "getRule",
    tag: "Rules",
    summary: "One rule",
    plane: "api",
    params: rulePath,
    status: 200,
    answer,
    errors: ["not_found"],
    handle: ({ tenant, params }) =>
      toRule(getRule(tenant.store, getProject(tenant.store, params.id).id, params.name)),
  }),
  route({
    method: "PUT",
    path: "/v1/projects/{id}/rules/{name}",
    name: "replaceRule",
    tag: "Rules",
    summary: "Replace a rule; what is left out takes its default",
    plane: "api",
    params: rulePath,
    body: updateBody,
    readOnly: times,
    status: 200,
    answer,
    errors: [
      "invalid_request",
      "invalid_json",
      "not_found",
      "name_mismatch",
      "not_a_member",
      "unknown_schedule",
      "unknown_action",
    ],
    handle: ({ tenant, params, body }) => {
      const rule = tenant.store.write((tx) => {
        const project = getProject(tx, params.id);
        getRule(tx, project.id, params.name);
        if (body.name !== undefined && body.name !== params.name) {
          throw new ServiceError(
            "name_mismatch",
            "A rule's name is taken from the path and can't be changed.",
            {
              details: [{ field: "/name", reason: "differs from the name in the path" }],
            },
          );
        }
        return replaceRule(tx, project, { name: params.name, body: bodyOf(body) });
      });
      return toRule(rule);
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/projects/{id}/rules/{name}",
    name: "deleteRule",
    tag: "Rules",
    summary: "Delete a rule; alerts already opened stay",
    plane: "api",
    params: rulePath,
    status: 200,
    answer: deleted,
    errors: ["not_found"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) => deleteRule(tx, getProject(tx, params.id), params.name));
      return { deleted: true };
    },
  }),
];
