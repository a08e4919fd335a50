import * as z from "zod";
import { integer, list, pathName, peopleAnswer, text } from "../../ground/kit/fields.ts";
import { escalationStep, type LadderPart } from "./rule.ts";

/** A ladder with a name, which rules refer to: as it is written and read over the interface. */

export const ladderName = pathName(200);

export const ladderFields = {
  steps: list(escalationStep, 10)
    .default([])
    .describe(
      "The rungs of the ladder (escalation policy), in this order. A schedule is named `{project}/{schedule}`, and has to be shared.",
    ),
  passes: integer(1, 9).default(1).describe("How often the whole ladder runs."),
  pass_after_minutes: integer(1, 10_080)
    .nullable()
    .default(null)
    .describe(
      "Minutes from the last rung to the next pass, and after the last pass to the fallback. Required if `passes` is 2 or more.",
    ),
  team: text(200).default("").describe("Free text: the team that owns the ladder."),
};

/** A ladder of several passes says how long after one the next begins. */
export const hasPause = (ladder: { passes: number; pass_after_minutes: number | null }) =>
  ladder.passes === 1 || ladder.pass_after_minutes !== null;
export const pauseFault = {
  path: ["pass_after_minutes"],
  error: "is required if passes is 2 or more",
};

/** The body that makes a ladder. */
export const ladderCreate = z
  .strictObject({ name: ladderName, ...ladderFields })
  .refine(hasPause, pauseFault)
  .meta({
    id: "LadderWrite",
    examples: [
      {
        name: "first line",
        steps: [
          { schedules: ["team/first line"], after_minutes: 0 },
          { accounts: ["c0ffee0123456789"], after_minutes: 15 },
        ],
        passes: 2,
        pass_after_minutes: 30,
      },
    ],
  });

/** The body that replaces one. The name may be left out; another than that of the path renames the ladder. */
export const ladderReplace = z
  .strictObject({ name: ladderName.optional(), ...ladderFields })
  .refine(hasPause, pauseFault);

export type LadderInput = z.output<typeof ladderCreate>;
export type LadderBody = Omit<LadderInput, "name">;

export const ladderAnswer = z
  .object({
    name: z.string(),
    ...ladderFields,
    rules: z
      .array(z.string())
      .meta({ description: "The rules that refer to it, as `{project}/{rule}`. Read only." }),
    default_of: z.array(z.string()).meta({
      description: "The projects in which rules made in passing take it. Read only.",
    }),
    imported_from: z.string().nullable().meta({
      description: "From where an import made it, `pagerduty:P1`; null: none did. Read only.",
    }),
    people: peopleAnswer,
    created_at: z.int(),
    updated_at: z.int(),
  })
  .meta({ id: "Ladder" });

/** Rules with equal steps of their own. */
export const ladderCopiesAnswer = z
  .object({
    steps: list(escalationStep, 10),
    rules: z
      .array(z.string())
      .meta({ description: "The rules that have them, as `{project}/{rule}`." }),
    not_shared: z.array(z.string()).meta({
      description: "Schedules of the rungs that have to be shared before a ladder can name them.",
    }),
  })
  .meta({ id: "LadderCopies" });
export type LadderCopies = z.output<typeof ladderCopiesAnswer>;

/** The body that makes a ladder of the steps that rules have. */
export const ladderAdopt = z
  .strictObject({
    name: ladderName,
    rules: list(text(400, 3), 10_000).describe("As `{project}/{rule}`; all with equal rungs."),
  })
  .refine(({ rules }) => rules.length > 0, { path: ["rules"], error: "must name a rule" })
  .meta({ id: "LadderAdopt" });

/** What a change of a ladder comes to for alerts that aren't resolved. */
export const ladderChange = z
  .object({
    rules: z.int().meta({ description: "How many rules refer to it." }),
    open_alerts: z.int().meta({ description: "Their alerts that aren't resolved." }),
    pages: z
      .array(
        z.object({
          account_id: z.string(),
          email: z.string(),
          alerts: z.int().meta({ description: "For how many alerts." }),
        }),
      )
      .meta({ description: "Who is paged by the change at once, by email." }),
  })
  .meta({ id: "LadderChange" });
export type LadderChange = z.output<typeof ladderChange>;

export interface StoredLadder extends LadderBody {
  id: number;
  name: string;
  created_at: number;
  updated_at: number;
}

/** What a ladder is to the rules that refer to it. */
export function ladderPartOf({
  name,
  steps,
  passes,
  pass_after_minutes,
}: LadderBody & { name: string }): LadderPart {
  return { ladder: name, escalations: steps, passes, pass_after_minutes };
}
