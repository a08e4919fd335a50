import {
  simulateAnswer,
  simulateWrite,
  sweepAnswer,
  sweepWrite,
} from "../../../core/alerts/simulate/shape.ts";
import { simulate, sweep } from "../../../core/alerts/simulate.ts";
import { previewDraft } from "../../../core/oncall/answers.ts";
import {
  draftPreviewAnswer,
  draftPreviewWrite,
  scheduleReadOnly,
} from "../../../core/oncall/schedule.ts";
import { checkSchedule, findSchedule } from "../../../core/oncall/schedules.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { ruleReadOnly } from "../../../core/projects/rule.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { dryRunAnswer, dryRunWrite } from "../../../in/ingest/dry-run/dry-run.ts";
import { runTrial } from "../../../tenant/rule-trial.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import { projectPath } from "../fields.ts";
import { type Route, route } from "../route.ts";
import { asking, previewRange } from "./oncall.ts";

/** A rule and a schedule are taken as they are read. */
const READ_ONLY = [
  ...[...ruleReadOnly, "people"].map((name) => `rule/${name}`),
  ...[...scheduleReadOnly, "people"].map((name) => `schedule/${name}`),
];

const asked = [
  ...(["invalid_request", "invalid_json", "not_found", "not_a_member"] as const),
  ...(["unknown_schedule", "unknown_action", "overloaded"] as const),
];

const ASKED_OF = ["rule.escalations.*.accounts.*", "silent.*", "ack.account"];

const whereAndWhen = ({ store, clock }: Tenant, project: string) => ({
  projectId: getProject(store, project).id,
  now: unixSeconds(clock),
});

/** contract §15, Rules: what a rule or a schedule would do, before it does. */
export const tryingRoutes: Route[] = [
  route({
    method: "POST",
    path: "/v1/projects/{id}/rules/dry-run",
    name: "tryRule",
    tag: "Rules",
    summary:
      "What a rule would have opened on the kept lines of the past days, and whom it would have paged; nothing is stored. One at a time; after some seconds it answers with what it has",
    plane: "api",
    additive: true,
    params: projectPath,
    body: dryRunWrite,
    readOnly: READ_ONLY,
    people: ["rule.escalations.*.accounts.*"],
    bodyLimit: 512 * 1024,
    status: 200,
    answer: dryRunAnswer,
    errors: ["invalid_request", "invalid_json", "not_found", "overloaded"],
    handle: ({ tenant, params, body }) => runTrial(tenant, params.id, body),
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/rules/simulate",
    name: "simulateRule",
    tag: "Rules",
    summary:
      "Who would be paged when, by what and why, if a rule opened an alert at a time and some people didn't answer: by the ladder's own functions, on schedules, overrides, contacts and silences as they are now. Nothing is sent or stored",
    plane: "api",
    additive: true,
    params: projectPath,
    body: simulateWrite,
    readOnly: READ_ONLY,
    people: ASKED_OF,
    status: 200,
    answer: simulateAnswer,
    errors: asked,
    handle: ({ tenant, params, body: input }) =>
      tenant.slices.run(simulate(tenant.store, { input, ...whereAndWhen(tenant, params.id) })),
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/rules/sweep",
    name: "sweepRule",
    tag: "Rules",
    summary: "The verdict of that for each hour of some days: how a rota is checked",
    plane: "api",
    additive: true,
    params: projectPath,
    body: sweepWrite,
    readOnly: READ_ONLY,
    people: ASKED_OF,
    status: 200,
    answer: sweepAnswer,
    errors: asked,
    handle: ({ tenant, params, body: input }) =>
      tenant.slices.run(sweep(tenant.store, { input, ...whereAndWhen(tenant, params.id) })),
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/oncall/preview",
    name: "previewDraft",
    tag: "On-call",
    summary:
      "Shifts and gaps of a schedule that isn't saved (default: 14 days from now), and of the saved one of its name; nothing is stored",
    plane: "api",
    additive: true,
    params: projectPath,
    body: draftPreviewWrite,
    readOnly: READ_ONLY,
    people: ["schedule.layers.*.participants.*"],
    status: 200,
    answer: draftPreviewAnswer,
    errors: [
      ...(["invalid_request", "invalid_json", "not_found", "not_a_member"] as const),
      ...(["invalid_timezone", "invalid_layer", "schedule_too_complex", "overloaded"] as const),
    ],
    handle({ tenant, params, body: { schedule: draft, ...range } }) {
      const { store, clock } = tenant;
      const project = getProject(store, params.id);
      checkSchedule(store, draft);
      const saved = findSchedule(store, project, draft.name);
      const asked = previewRange(range, unixSeconds(clock), "/until");
      return previewDraft(asking(tenant), { draft, saved }, asked);
    },
  }),
];
