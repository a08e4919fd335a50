import * as z from "zod";
import { integer, list, text, time } from "../../../ground/kit/fields.ts";
import { ruleCreate } from "../../projects/rule.ts";
import { reachAnswer, reachReason } from "../reach-report.ts";

/** What would ring: asked and answered over the interface. Times are Unix seconds. */

const question = {
  rule: z
    .union([text(200, 1), ruleCreate], { error: "must be a rule's name, or a whole rule" })
    .describe("A rule of the project by its name, or one that isn't stored."),
  level: integer(0)
    .optional()
    .describe("The alert's; default: the lowest that the rule takes, or 400."),
  identifiers: z
    .record(text(256, 1), text(4096), { error: "must be an object of strings" })
    .default({})
    .describe("The alert's, as silences look at them."),
  source: text(128, 1).nullable().default(null).describe("The only source of its events."),
  silent: list(text(128, 1), 100).default([]).describe("Account ids: they answer nothing."),
  ack: z
    .strictObject({
      account: text(128, 1),
      after_seconds: integer(0, 172_800).describe("After the first rung that pages them."),
      snooze_seconds: integer(1, 604_800)
        .optional()
        .describe("For so long only. Default: as the rule has it."),
    })
    .nullable()
    .default(null)
    .describe("Who acknowledges it, once; null: nobody does."),
  horizon_hours: integer(1, 48).default(24).describe("How far it is followed."),
};

export const simulateWrite = z
  .strictObject({
    ...question,
    at: time
      .optional()
      .describe("When it fires. Default: now. It opens `for_minutes` of its rule later."),
  })
  .meta({
    id: "SimulateWrite",
    examples: [{ rule: "errors", at: 1_763_776_800, level: 500, silent: ["c0ffee0123456789"] }],
  });
export type SimulateInput = z.output<typeof simulateWrite>;

export const sweepWrite = z
  .strictObject({
    ...question,
    from: time.optional().describe("The first hour. Default: now."),
    days: integer(1, 14).default(14),
  })
  .meta({ id: "SweepWrite", examples: [{ rule: "errors", days: 14 }] });
export type SweepInput = z.output<typeof sweepWrite>;

export const because = z
  .object({
    kind: z.enum(["named", "schedule", "override", "channel"]),
    name: z.string().meta({
      description: "`named`: the rung, or `fallback`; else the schedule's or the channel's name.",
    }),
    layer: z.string().nullable(),
    until: z
      .int()
      .nullable()
      .meta({ description: "Unix seconds at which it ends; null: it doesn't." }),
  })
  .meta({ id: "Because" });
export type Because = z.output<typeof because>;

const wayState = z.enum(["confirmed", "unconfirmed", "failing", "off", "none"]).meta({
  description:
    "`confirmed`: checked, and the latest message got through. `unconfirmed`: nothing is known of it. `failing`: the latest messages did not get through. `off`: switched off. `none`: doesn't ring for this alert.",
});

const simulatedChannel = z.object({
  kind: z.string().meta({ description: "`phone`: by the relay. `none`: they have nothing." }),
  label: z.string(),
  state: wayState,
  last_confirmed_at: z.int().nullable(),
  after_seconds: z.int().meta({ description: "How long after the rung it rings." }),
});
export type SimulatedChannel = z.output<typeof simulatedChannel>;

const rung = z.object({
  at: z.int(),
  step: z.int(),
  why: z.enum(["step", "repeat", "nobody_reached_before", "renotify", "fallback"]),
  people: z.array(
    z.object({
      account_id: z.string(),
      name: z.string(),
      because: z.array(because),
      answers: z.boolean().meta({ description: "Something rings there, and they aren't silent." }),
      channels: z.array(simulatedChannel),
    }),
  ),
  nobody: z.boolean().meta({ description: "It has nobody to page." }),
});

const verdict = z.enum(["good", "warn", "error"]).meta({
  description:
    "`good`: two people by confirmed ways within 30 minutes, and one of them answers; or somebody acknowledges. `error`: nobody who answers is rung.",
});
export type VerdictLevel = z.output<typeof verdict>;

export const simulateAnswer = z
  .object({
    opens_at: z.int().meta({
      description: "When it opens, `for_minutes` of its rule after it fires.",
    }),
    rungs: z.array(rung).meta({ description: "At most 500." }),
    shared: z.array(
      z.object({
        integration_id: z.string(),
        name: z.string(),
        event: z.string(),
        state: wayState,
        reason: reachReason
          .nullable()
          .meta({ description: "Why it doesn't get the alert; null: it does." }),
      }),
    ),
    held: z
      .array(z.object({ at: z.int(), until: z.int(), by: z.string(), reason: z.string() }))
      .meta({ description: "When its news is held back, and by what." }),
    untold: z
      .array(reachAnswer)
      .meta({ description: "Which of the ladder's people aren't notified, and why." }),
    verdict: z.object({
      level: verdict,
      first_ring_at: z.int().nullable(),
      second_person_at: z.int().nullable(),
      sentence: z.string(),
    }),
    ends: z.object({ at: z.int(), how: z.enum(["ack", "top", "horizon"]) }),
  })
  .meta({ id: "Simulation" });
export type Simulation = z.output<typeof simulateAnswer>;

export const sweepAnswer = z
  .object({ cells: z.array(z.object({ at: z.int(), verdict, why: z.string() })) })
  .meta({ id: "Sweep" });
export type SweepCells = z.output<typeof sweepAnswer>;
