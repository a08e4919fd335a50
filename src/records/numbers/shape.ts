import * as z from "zod";
import { text } from "../../ground/kit/fields.ts";
import { queryInteger } from "../../ground/kit/query-fields.ts";

/** DayFigures as they are answered: what each means stands here, and in the documents from here. */

export const numbersBy = ["week", "day", "person", "rule", "project", "level"] as const;
export type NumbersBy = (typeof numbersBy)[number];

const instant = queryInteger(0, 100_000_000_000).optional();

export const numbersQuery = z.strictObject({
  from: instant.meta({ description: "Unix seconds. Default: eight weeks ago." }),
  to: instant.meta({ description: "Unix seconds, not included." }),
  by: z
    .enum(numbersBy, { error: `must be one of ${numbersBy.join(", ")}` })
    .default("week")
    .describe("A row for each."),
  project: text(200).optional().meta({ description: "Only this project." }),
});

const n = (description: string) => z.int().meta({ description });
const seconds = (description: string) => z.int().nullable().meta({ description });
const span = (what: string) => ({
  [`${what}_p50`]: seconds("Median in seconds, at most 5 % off; null: there are none."),
  [`${what}_p90`]: seconds("The same of nine in ten."),
});

export const numbersRow = z
  .object({
    key: z.string().meta({
      description:
        "The day, or the week's Monday, as 2026-11-23; a person's account id; `{project}/{rule}`; a project's name; a level.",
    }),
    name: z.string().meta({ description: "As a person reads it." }),
    opened: n("Alerts opened. All figures of an alert belong to the day on which it opened."),
    events: n("Events of these alerts that counted towards them."),
    pages: n(
      "One person was notified of one alert by one rung, repeat or reminder, by however many contacts. Counted on the day of the notification.",
    ),
    rings: n("Of the pages, those that made a noise."),
    interruptions: n("Rings of a person with less than ten minutes between are one."),
    night_rings: n("Rings from 22:00 to 07:00 and at weekends, in the person's zone."),
    night_interruptions: n("Interruptions that began then."),
    nights_broken: n("Nights of a person with an interruption from 23:00 to 06:00."),
    acknowledged: n("Alerts that somebody acknowledged; with `by=person`, who did first."),
    steps_to_acknowledge: z.number().nullable().meta({
      description: "How often an alert had escalated by then, on average; null: there are none.",
    }),
    ended_by_themselves: n(
      "Alerts that ended within five minutes, by nobody, and before anybody took them.",
    ),
    reopened: n("How often alerts were opened again."),
    reached_nobody: n("Alerts of which a rung reached nobody."),
    on_call_hours: z.number().nullable().meta({
      description:
        "Hours on call, of each person once however many schedules have them; null: by rule and level there are none.",
    }),
    on_call_night_hours: z.number().nullable().meta({ description: "Of these, at night." }),
    ...span("opened_to_acknowledged"),
    ...span("opened_to_resolved"),
    ...span("told_to_shown"),
  })
  .meta({ id: "NumbersRow" });
export type NumbersRow = z.output<typeof numbersRow> & {
  [K in "opened_to_acknowledged" | "opened_to_resolved" | "told_to_shown" as
    | `${K}_p50`
    | `${K}_p90`]: number | null;
};

export const numbersAnswer = z
  .object({
    from: z.int().meta({ description: "When the first day begins." }),
    to: z.int().meta({ description: "When the last day ends." }),
    timezone: z.string().meta({ description: "In which days are counted." }),
    by: z.enum(numbersBy),
    rows: z.array(numbersRow),
    complete: z.boolean().meta({
      description:
        "false: history that was written before is still being reckoned, as after an upgrade.",
    }),
  })
  .meta({ id: "Numbers" });
export type NumbersAnswer = Omit<z.output<typeof numbersAnswer>, "rows"> & { rows: NumbersRow[] };
