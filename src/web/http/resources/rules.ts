import { z } from "zod";
import { alertAnswer, alertId, toAlert } from "../../../core/alerts/alert.ts";
import { drillWrite, startDrill } from "../../../core/alerts/drill.ts";
import { drillAnswer, readDrill } from "../../../core/alerts/drill-report.ts";
import { createRule, replaceRule } from "../../../core/alerts/rules.ts";
import { getProject } from "../../../core/projects/projects.ts";
import {
  type RuleBody,
  ruleCreate,
  ruleReadOnly,
  ruleReplace,
  ruleShown,
  type StoredRule,
} from "../../../core/projects/rule.ts";
import { readRules } from "../../../core/projects/rule-actions.ts";
import { getRule, listRules } from "../../../core/projects/rules.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { namedPeople } from "../../../people/named.ts";
import { deleteSaying, endingWith, ladderEnd } from "../../../records/config-file/ladders-end.ts";
import { deleted, projectPath } from "../fields.ts";
import { type Route, route } from "../route.ts";

const rulePath = z.strictObject({ id: z.string(), name: z.string() });
/** Left out where none ends, and what it stands beside is as ever. */
const laddersEnd = {
  ladders_end: z.array(ladderEnd).optional().meta({
    description:
      "Additive: the rule, where nobody further is told of alerts that are open once it is deleted; else left out.",
  }),
};
const endsOf = (ends: z.output<typeof ladderEnd>[]) =>
  ends.length === 0 ? {} : { ladders_end: ends };
const ladderPeople = ["escalations.*.accounts.*"];

function shown(reader: Reader, projectId: number, rules: readonly StoredRule[]) {
  const named = (rule: Pick<StoredRule, "escalations">) =>
    rule.escalations.flatMap(({ accounts }) => accounts);
  const emails = new Map(
    namedPeople(reader, rules.flatMap(named)).map((one) => [one.account_id, one.email]),
  );
  return readRules(reader, projectId, rules).map((rule) => ({
    ...rule,
    people: [...new Set(named(rule))].flatMap((account_id) => {
      const email = emails.get(account_id);
      return email === undefined ? [] : [{ account_id, email }];
    }),
  }));
}

const shownOne = (reader: Reader, rule: StoredRule) =>
  shown(reader, rule.project_id, [rule])[0] as ReturnType<typeof shown>[number];

function bodyOf(body: z.output<typeof ruleCreate> | z.output<typeof ruleReplace>): RuleBody {
  const { name: _name, ...rule } = body;
  return rule;
}

/** contract §15, Rules. A PUT replaces the whole rule (contract §5). */
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
    answer: z.object({ rules: z.array(ruleShown) }),
    errors: ["not_found"],
    handle: ({ tenant: { store }, params }) => {
      const { id } = getProject(store, params.id);
      return { rules: shown(store, id, listRules(store, id)) };
    },
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/rules",
    name: "createRule",
    tag: "Rules",
    summary: "Create a rule",
    plane: "api",
    params: projectPath,
    body: ruleCreate,
    people: ladderPeople,
    readOnly: [...ruleReadOnly, "people"],
    status: 201,
    answer: ruleShown,
    errors: [
      "invalid_silence",
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
      shownOne(
        tenant.store,
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
    answer: ruleShown.extend(laddersEnd),
    errors: ["not_found"],
    handle: ({ tenant: { store }, params }) => {
      const rule = getRule(store, getProject(store, params.id).id, params.name);
      return { ...shownOne(store, rule), ...endsOf(endingWith(store, rule)) };
    },
  }),
  route({
    method: "PUT",
    path: "/v1/projects/{id}/rules/{name}",
    name: "replaceRule",
    tag: "Rules",
    summary: "Replace a rule; what is left out takes its default",
    plane: "api",
    params: rulePath,
    body: ruleReplace,
    people: ladderPeople,
    readOnly: [...ruleReadOnly, "people"],
    status: 200,
    answer: ruleShown,
    errors: [
      "invalid_silence",
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
      return shownOne(tenant.store, rule);
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
    answer: deleted.extend(laddersEnd),
    errors: ["not_found"],
    handle: ({ tenant, params }) => {
      const ends = tenant.store.write((tx) =>
        deleteSaying(tx, getProject(tx, params.id), params.name),
      );
      return { deleted: true, ...endsOf(ends) };
    },
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/rules/{name}/drill",
    name: "startDrill",
    tag: "Rules",
    summary:
      "Open an alert of which nothing is true but its way: ladder, pages and channels as for a real one, each text says Drill. It ends by itself after 15 minutes; one at a time for a rule",
    plane: "api",
    additive: true,
    params: rulePath,
    body: drillWrite,
    status: 201,
    answer: alertAnswer,
    errors: ["invalid_request", "invalid_json", "not_found", "drill_running", "storage_full"],
    handle: ({ tenant, params, body, actor: { accountId: by } }) =>
      toAlert(
        tenant.store.write((tx) =>
          startDrill(tx, getRule(tx, getProject(tx, params.id).id, params.name), { ...body, by }),
        ),
      ),
  }),
  route({
    method: "GET",
    path: "/v1/projects/{id}/drills/{drill}",
    name: "getDrill",
    tag: "Rules",
    summary: "What a drill came to: what arrived by which way and when, and what didn't",
    plane: "api",
    additive: true,
    params: z.strictObject({ id: z.string(), drill: z.string() }),
    status: 200,
    answer: drillAnswer,
    errors: ["not_found"],
    handle: ({ tenant: { store }, params }) =>
      readDrill(store, {
        projectId: getProject(store, params.id).id,
        id: alertId(params.drill),
        now: unixSeconds(store.clock),
      }),
  }),
];
