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
  scheduleShown,
  scheduleWrite,
} from "../../../core/oncall/schedule.ts";
import { checkSchedule, findSchedule } from "../../../core/oncall/schedules.ts";
import { ruleCreate } from "../../../core/projects/rule.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { onlyRead } from "../../../ground/kit/field-kind.ts";
import { dryRunAnswer, dryRunWrite } from "../../../in/ingest/dry-run/dry-run.ts";
import { runTrial } from "../../../tenant/rule-trial.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn } from "../scope.ts";
import { asking, previewRange } from "./oncall.ts";
import { ruleRead } from "./rules.ts";

const rules = routesIn(inProject, { at: "/rules", tag: "Rules", additive: true });
const schedules = routesIn(inProject, { at: "/oncall", tag: "On-call", additive: true });

/** A rule and a schedule are taken as they are read. */
const READ_ONLY = [
  ...onlyRead(ruleRead, ruleCreate).map((name) => `rule/${name}`),
  ...onlyRead(scheduleShown, scheduleWrite).map((name) => `schedule/${name}`),
];

const ladder = ["unknown_ladder", "two_ladders"] as const;
const asked = [
  "not_a_member",
  "unknown_schedule",
  "unknown_action",
  "overloaded",
  ...ladder,
] as const;

const ASKED_OF = ["rule.escalations.*.accounts.*", "silent.*", "ack.account"];

/** contract §15, Rules: what a rule or a schedule would do, before it does. */
export const tryingRoutes: Route[] = [
  rules.post("/dry-run", {
    name: "tryRule",
    summary:
      "What a rule would have opened on the kept lines of the past days, and whom it would have paged; nothing is stored. One at a time; after some seconds it answers with what it has",
    body: dryRunWrite,
    readOnly: READ_ONLY,
    people: ["rule.escalations.*.accounts.*"],
    bodyLimit: 512 * 1024,
    answer: dryRunAnswer,
    errors: ["overloaded", ...ladder],
    handle: ({ tenant, params, body }) => runTrial(tenant, params.id, body),
  }),
  rules.post("/simulate", {
    name: "simulateRule",
    summary:
      "Who would be paged when, by what and why, if a rule opened an alert at a time and some people didn't answer: by the ladder's own functions, on schedules, overrides, contacts and silences as they are now. Nothing is sent or stored",
    body: simulateWrite,
    readOnly: READ_ONLY,
    people: ASKED_OF,
    answer: simulateAnswer,
    errors: asked,
    handle: ({ tenant: { store, slices }, project: { id: projectId }, body: input }) =>
      slices.run(simulate(store, { input, projectId, now: unixSeconds(store.clock) })),
  }),
  rules.post("/sweep", {
    name: "sweepRule",
    summary: "The simulation's verdict for each hour of some days, to check a schedule",
    body: sweepWrite,
    readOnly: READ_ONLY,
    people: ASKED_OF,
    answer: sweepAnswer,
    errors: asked,
    handle: ({ tenant: { store, slices }, project: { id: projectId }, body: input }) =>
      slices.run(sweep(store, { input, projectId, now: unixSeconds(store.clock) })),
  }),
  schedules.post("/preview", {
    name: "previewDraft",
    summary:
      "Shifts and gaps of a schedule that isn't saved (default: 14 days from now), and of the saved one of its name; nothing is stored",
    body: draftPreviewWrite,
    readOnly: READ_ONLY,
    people: ["schedule.layers.*.participants.*"],
    answer: draftPreviewAnswer,
    errors: [
      "not_a_member",
      "invalid_timezone",
      "invalid_layer",
      "schedule_too_complex",
      "overloaded",
    ],
    handle: ({ tenant, body: { schedule: draft, ...range }, project }) => {
      const { store, clock } = tenant;
      checkSchedule(store, draft);
      const saved = findSchedule(store, project, draft.name);
      const asked = previewRange(range, unixSeconds(clock), "/until");
      return previewDraft(asking(tenant), { draft, saved }, asked);
    },
  }),
];
