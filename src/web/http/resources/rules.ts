import * as z from "zod";
import { alertAnswer, alertId } from "../../../core/alerts/alert.ts";
import { drillWrite, startDrill } from "../../../core/alerts/drill.ts";
import { drillAnswer, readDrill } from "../../../core/alerts/drill-report.ts";
import { createRule, replaceRule } from "../../../core/alerts/rules.ts";
import { toAlert } from "../../../core/alerts/shown.ts";
import { readWaiting, waitingAnswer } from "../../../core/alerts/waiting.ts";
import {
  type RuleBody,
  ruleCreate,
  ruleReplace,
  ruleShown,
  type StoredRule,
} from "../../../core/projects/rule.ts";
import { readRules } from "../../../core/projects/rule-actions.ts";
import { getRule, listRules } from "../../../core/projects/rules.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { namedPeople } from "../../../people/named.ts";
import { deleteSaying, endingWith, ladderEnd } from "../../../records/config-file/ladders-end.ts";
import { mustBeOfPath } from "../read-request.ts";
import type { Route } from "../route.ts";
import { deleted, inProject, routesIn } from "../scope.ts";

const rules = routesIn(inProject, { tag: "Rules" });
/** Left out where none ends, and what it stands beside is as ever. */
const laddersEnd = {
  ladders_end: z.array(ladderEnd).optional().meta({
    description:
      "The rule, where nobody further is paged for open alerts once it is deleted; else left out.",
  }),
};
/** A rule as it is read alone. */
export const ruleRead = ruleShown.extend(laddersEnd);
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
  rules.get("/rules", {
    name: "listRules",
    summary: "The project's rules, by name",
    answer: z.object({ rules: z.array(ruleShown) }),
    read: (store, { project: { id } }) => ({ rules: shown(store, id, listRules(store, id)) }),
  }),
  rules.post("/rules", {
    name: "createRule",
    summary: "Create a rule",
    body: ruleCreate,
    reads: ruleRead,
    people: ladderPeople,
    status: 201,
    answer: ruleShown,
    errors: [
      "invalid_silence",
      "name_taken",
      "not_a_member",
      "unknown_schedule",
      "unknown_action",
      "unknown_ladder",
      "two_ladders",
      "too_many",
    ],
    write: (tx, { project, body }) =>
      shownOne(tx, createRule(tx, project, { name: body.name, body: bodyOf(body) })),
  }),
  rules.get("/rules/{name}", {
    name: "getRule",
    summary: "One rule",
    answer: ruleRead,
    read: (store, { params, project }) => {
      const rule = getRule(store, project.id, params.name);
      return { ...shownOne(store, rule), ...endsOf(endingWith(store, rule)) };
    },
  }),
  rules.put("/rules/{name}", {
    name: "replaceRule",
    summary: "Replace a rule; a field that is left out goes back to its default",
    body: ruleReplace,
    reads: ruleRead,
    people: ladderPeople,
    answer: ruleShown,
    errors: [
      "invalid_silence",
      "name_mismatch",
      "not_a_member",
      "unknown_schedule",
      "unknown_action",
      "unknown_ladder",
      "two_ladders",
    ],
    write: (tx, { project, params: { name }, body }) => {
      getRule(tx, project.id, name);
      mustBeOfPath(body, "name", name);
      return shownOne(tx, replaceRule(tx, project, { name, body: bodyOf(body) }));
    },
  }),
  rules.delete("/rules/{name}", {
    name: "deleteRule",
    summary: "Delete a rule; its alerts stay open, and nobody further is paged for them",
    answer: deleted.extend(laddersEnd),
    write: (tx, { project, params }) => ({
      deleted: true,
      ...endsOf(deleteSaying(tx, project, params.name)),
    }),
  }),
  rules.get("/rules/{name}/waiting", {
    name: "listWaiting",
    summary: "What has fired and waits, by the rule's `for_minutes`, before it opens an alert",
    additive: true,
    answer: waitingAnswer,
    read: (store, { params, project }) =>
      readWaiting(store, getRule(store, project.id, params.name).id),
  }),
  rules.post("/rules/{name}/drill", {
    name: "startDrill",
    summary:
      "Open a test alert that takes the real way: ladder, pages and channels; each text says Drill. It ends by itself after 15 minutes; one at a time for a rule",
    additive: true,
    body: drillWrite,
    status: 201,
    answer: alertAnswer,
    errors: ["drill_running", "storage_full"],
    write: (tx, { project, params, body, actor: { accountId: by } }) =>
      toAlert(tx, startDrill(tx, getRule(tx, project.id, params.name), { ...body, by })),
  }),
  rules.get("/drills/{drill}", {
    name: "getDrill",
    summary: "The result of a drill: what arrived by which way and when, and what didn't",
    additive: true,
    answer: drillAnswer,
    read: (store, { params, project }) =>
      readDrill(store, {
        projectId: project.id,
        id: alertId(params.drill),
        now: unixSeconds(store.clock),
      }),
  }),
];
