import * as z from "zod";
import {
  boolean,
  integer,
  list,
  pathName,
  peopleAnswer,
  person,
  text,
  time,
} from "../../ground/kit/fields.ts";

/** A schedule and its overrides: as they are written and read over the interface (contract §13, On-call). */

const restriction = z.strictObject({
  days: list(integer(0, 6), 7)
    .refine((days) => new Set(days).size === days.length, { error: "must not name a day twice" })
    .default([])
    .describe("0 (Sunday) to 6; none is every day."),
  start_minute: integer(0, 1439).describe("Minute of the local day, 540 being nine o'clock."),
  end_minute: integer(0, 1440).describe("At or before the start: on the next day."),
  holidays: z
    .strictObject({
      calendar: text(128, 1).describe("The name of holidays of the tenant."),
      mode: z.enum(["out", "only"], { error: "must be out or only" }),
    })
    .optional()
    .describe(
      "`out`: not on the days of these holidays. `only`: only on them. A day is the schedule's local day; hours that begin on it count to their end, also after midnight.",
    ),
});

/** People whom one layer has on call at once. */
export const MOST_TAKEN = 5;

/** One layer. `restriction` null: always. */
export const layer = z.strictObject({
  name: text(128),
  participants: list(person.nullable(), 100).describe(
    "Account ids, or addresses as `email:ann@example.org`, in the order they take turns. `null`: a turn in which nobody is on call.",
  ),
  rotation_start: time.describe("When the first turn begins; nobody is on call before."),
  /** Ten years: longer than any rotation. */
  shift_minutes: integer(1, 5_256_000).describe(
    "Length of a turn; whole days follow the local clock.",
  ),
  restriction: restriction
    .nullable()
    .default(null)
    .describe("When the layer counts; null = always."),
  take: integer(1, MOST_TAKEN)
    .optional()
    .describe(
      "How many are on call at once: whose turn it is and the next in the list. Default 1. A turn of null stays empty. An override replaces all of them.",
    ),
});
export type Layer = z.output<typeof layer>;

/** Everybody who takes turns in any of these layers, each once. */
export const peopleOfLayers = (
  layers: readonly { participants: readonly (string | null)[] }[],
): string[] => [
  ...new Set(layers.flatMap(({ participants }) => participants.filter((one) => one !== null))),
];

/** When a schedule promises that somebody is on call. */
export const covers = z.enum(["always", "hours"], { error: "must be always or hours" });
export type Covers = z.output<typeof covers>;

export const scheduleName = pathName(128);
export const scheduleTimezone = text(100, 1);

/** The body that makes or replaces a schedule. */
export const scheduleWrite = z
  .strictObject({
    name: scheduleName,
    timezone: scheduleTimezone.describe("An IANA name, as Europe/Vienna."),
    layers: list(layer, 50).describe(
      "A later layer replaces an earlier one in the hours that it covers.",
    ),
    shared: boolean
      .optional()
      .describe(
        "Ladders of every project may name it, as `{project}/{schedule}`. Default false; on PUT kept.",
      ),
    shift_check: boolean
      .optional()
      .describe(
        "When a shift begins, a silent push checks that the person's devices are reached. Default true; on PUT kept.",
      ),
    hand_over: boolean
      .optional()
      .describe("At each hand-over, both people get a silent note. Default true; on PUT kept."),
    covers: covers
      .optional()
      .describe(
        "`hours`: somebody must be on call only in the hours of its layers' restrictions. Other hours without anybody are no gap. Default `always`; on PUT kept.",
      ),
  })
  .meta({
    id: "ScheduleWrite",
    examples: [
      {
        name: "first line",
        timezone: "Europe/Vienna",
        layers: [
          {
            name: "weekly",
            participants: ["c0ffee0123456789", "0123456789c0ffee"],
            rotation_start: 1_767_600_000,
            shift_minutes: 10_080,
            restriction: { days: [1, 2, 3, 4, 5], start_minute: 540, end_minute: 1_020 },
          },
        ],
      },
    ],
  });
export type ScheduleInput = z.output<typeof scheduleWrite>;

const scheduleAnswer = z.object({
  id: z.string(),
  name: z.string(),
  timezone: z.string(),
  layers: z.array(layer),
  shared: z.boolean().meta({ description: "Ladders of every project may name it." }),
  shift_check: z.boolean().meta({
    description: "Devices of the person whose shift begins are pushed.",
  }),
  covers: covers.meta({
    description: "When somebody must be on call. Such an hour without anybody is a gap.",
  }),
  hand_over: z.boolean().meta({
    description: "At each hand-over, both people get a silent note.",
  }),
  project: z.string().meta({ description: "Its home, with its name as others name it." }),
  created_at: z.int(),
  updated_at: z.int(),
});
/** A schedule as it is stored and read. */
export type StoredSchedule = z.output<typeof scheduleAnswer>;

/** As it is answered: with everybody who takes turns, by email as well. */
export const scheduleShown = scheduleAnswer
  .extend({ people: peopleAnswer })
  .meta({ id: "Schedule" });

/** The body that puts somebody on call for a while; from now on where it says no start. */
export const overrideWrite = z.strictObject({
  account_id: person,
  starts_at: time.optional().describe("Default: now."),
  ends_at: time.describe("Not included; at most 90 days after the start."),
});

export const overrideAnswer = z
  .object({
    id: z.string(),
    account_id: z.string(),
    email: z.string().nullable().meta({
      description: "Of that account; null where it is gone.",
    }),
    starts_at: z.int(),
    ends_at: z.int(),
    created_at: z.int(),
    created_by: z.string(),
  })
  .meta({ id: "Override" });
type OverrideAnswer = z.output<typeof overrideAnswer>;
/** An override as it is stored: covers [starts_at, ends_at). */
export type StoredOverride = Omit<OverrideAnswer, "email">;

/** An override as a schedule is followed with. */
export type Override = Pick<StoredOverride, "id" | "account_id" | "starts_at" | "ends_at">;

/** What says who is on call when. */
export interface Schedule {
  timezone: string;
  /** The later layer wins where it covers. */
  layers: Layer[];
  /** In the order they were made, oldest first: the newer wins. */
  overrides: Override[];
  /** Left out: always. */
  covers?: Covers;
  /** The days of each calendar that a layer may name. */
  holidays: HolidayDays;
}

/** Days since 1 January 1970, by the calendar's name. */
export type HolidayDays = ReadonlyMap<string, ReadonlySet<number>>;

const reached = z.boolean().optional().meta({
  description:
    "Whether a contact or a phone reaches them; left out where the box knows of neither, and a shared channel may be everybody's way.",
});

const seat = {
  account_id: z.string(),
  email: z.string(),
  starts_at: z.int(),
  ends_at: z.int().nullable(),
};

/** Who is on call, or who is next (contract §3). */
export const currentAnswer = z.union([
  z.object({
    on_call: z.literal(true),
    ...seat,
    accounts: z.array(z.object({ ...seat, reached })).meta({
      description:
        "Everybody who is on call now, the one above first: several where a layer takes several. A ladder pages all of them.",
    }),
    schedule: z.string(),
    layer: z.string().nullable(),
    override_id: z.string().nullable(),
    reached,
  }),
  z.object({
    on_call: z.literal(false),
    off: z.literal(true).optional().meta({
      description: "Nobody is promised now, as the schedule's `covers` says; else left out.",
    }),
    next: z.object({ account_id: z.string(), email: z.string(), starts_at: z.int() }).nullable(),
  }),
]);
export type CurrentAnswer = z.output<typeof currentAnswer>;
/** As the schedule alone knows it. */
export type Current =
  | Omit<Extract<CurrentAnswer, { on_call: true }>, "reached">
  | Extract<CurrentAnswer, { on_call: false }>;

const shift = z.object({
  account_id: z.string(),
  email: z.string(),
  starts_at: z.int(),
  ends_at: z.int(),
  layer: z.string().nullable(),
  override_id: z.string().nullable(),
  away: z.literal(true).optional().meta({
    description: "Some of it lies in a time in which the person is away; else left out.",
  }),
});

export const previewAnswer = z.object({
  shifts: z.array(shift),
  gaps: z.array(z.object({ starts_at: z.int(), ends_at: z.int() })),
  until: z.int().meta({
    description:
      "How far the answer reaches: before the asked end only where the schedule changes very often.",
  }),
});
/** A draft's preview: also as it is before the change. */
export const draftPreviewAnswer = previewAnswer
  .extend({
    was: previewAnswer.nullable().meta({
      description: "The same of the schedule of this name as it is saved; null: there is none.",
    }),
  })
  .meta({ id: "DraftPreview" });
export type DraftPreview = z.output<typeof draftPreviewAnswer>;

export const draftPreviewWrite = z
  .strictObject({
    schedule: scheduleWrite,
    from: time.optional().describe("Default: now."),
    until: time.optional().describe("At most 366 days later. Default: 14 days later."),
  })
  .meta({ id: "DraftPreviewWrite" });

export type PreviewAnswer = z.output<typeof previewAnswer>;

/** The final shifts of all schedules. */
export const gridAnswer = z
  .object({
    from: z.int(),
    until: z.int(),
    schedules: z
      .array(
        previewAnswer.extend({
          project: z.string(),
          schedule: z.string(),
          timezone: z.string(),
        }),
      )
      .meta({ description: "By project and name." }),
    left_out: z.int().meta({ description: "Schedules beyond the 200 that one answer has." }),
  })
  .meta({ id: "OnCallGrid" });
export type GridAnswer = z.output<typeof gridAnswer>;

/** The body that makes a secret address of a calendar. */
export const calendarWrite = z
  .strictObject({
    schedule: text(257, 3).optional().meta({
      description: "`{project}/{schedule}`: all of its shifts; left out: the person's own shifts.",
    }),
  })
  .meta({ id: "CalendarWrite", examples: [{ schedule: "ops/primary" }] });

export type CalendarWish = z.output<typeof calendarWrite>;

export const calendarEntry = z
  .object({
    id: z.string(),
    schedule: z
      .string()
      .nullable()
      .meta({ description: "`{project}/{schedule}`; null: the person's own shifts." }),
    created_at: z.int().meta({ description: "When its address was made." }),
  })
  .meta({ id: "CalendarEntry" });
export type CalendarEntry = z.output<typeof calendarEntry>;
