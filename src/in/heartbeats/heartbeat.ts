import * as z from "zod";
import { fieldFlags } from "../../ground/kit/field-kind.ts";
import { integer, pathName, text } from "../../ground/kit/fields.ts";

/** The API's bodies and answers for a heartbeat, a job that must report (contract §25). */

const YEAR = 366 * 86_400;

export const heartbeatName = pathName(128);
export const heartbeatSlug = z.string().regex(/^[a-z0-9_-]{1,64}$/, {
  error: "must have 1 to 64 of the characters a-z, 0-9, - and _",
});

/** A slug made from a name, with at most `most` characters. */
export function slugOf(name: string, most = 64): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, most);
  return plain === "" ? "job" : plain;
}

/** Bytes of a report's message that are kept, from its end. */
export const MESSAGE_BYTES = 10_000;

/** The events of another sender that count as a ping. */
const watched = z
  .strictObject({
    source: text(128, 1).optional().meta({
      description:
        "A source of the project whose check-ins and pings with this heartbeat's slug count as reports. With `match`, only this source's events are compared.",
    }),
    adapter: text(32, 1)
      .optional()
      .meta({ description: "The kind of source, `alertmanager` for example; with `match`." }),
    match: z
      .record(text(256, 1), text(4096))
      .refine((match) => Object.keys(match).length > 0, { error: "must name a key" })
      .optional()
      .meta({ description: "Keys of the event, all of them with these values." }),
  })
  .refine(
    ({ source, adapter, match }) =>
      (adapter === undefined) === (match === undefined) && (adapter ?? source) !== undefined,
    { error: "give adapter and match, or source" },
  );
export type Watched = z.output<typeof watched>;

/** When the job is expected: by a period, by cron with a zone, or by a systemd timer's OnCalendar. */
export const heartbeatPace = {
  period_seconds: integer(10, YEAR)
    .optional()
    .meta({
      description: "It reports at least every so many seconds. Either this or `cron`.",
    })
    .register(fieldFlags, {
      flag: "--every <span>",
      about: "the longest time between two reports: 1h, 1d",
    }),
  cron: text(128, 1)
    .optional()
    .meta({
      description:
        "Five cron fields. Where the clock is set forward over a time, the job is due at the end of the gap; where a time comes twice, it is due once.",
    })
    .register(fieldFlags, {
      flag: "--cron <fields>",
      about: 'the times at which it runs: "0 3 * * *"',
    }),
  oncalendar: text(128, 1)
    .optional()
    .meta({
      description:
        "As a systemd timer says it, `Mon..Fri 03:00`, a zone at its end if need be: kept and read as `cron`. Years, seconds, and days of the week and of the month at once are refused.",
    })
    .register(fieldFlags, {
      flag: "--oncalendar <times>",
      about: 'the times as a systemd timer writes them: "Mon..Fri 03:00"',
    }),
  timezone: text(100, 1)
    .optional()
    .meta({ description: "Of `cron`, an IANA name; default UTC." })
    .register(fieldFlags, {
      flag: "--timezone <zone>",
      about: "time zone of --cron, for example Europe/Vienna (default UTC)",
    }),
  grace_seconds: integer(1, 31 * 86_400)
    .optional()
    .meta({ description: "How late it may be; default 300." })
    .register(fieldFlags, {
      flag: "--grace <span>",
      about: "how late a report may be (default 5m)",
    }),
  max_run_seconds: integer(1, 31 * 86_400)
    .nullable()
    .optional()
    .meta({
      description: "How long a run may take from its start to its end; default the grace.",
    })
    .register(fieldFlags, {
      flag: "--max-run <span>",
      about: "how long a run may take (default: as --grace)",
    }),
  level: integer(0)
    .optional()
    .meta({
      description: "Of the event that rules get when it is missing or failed; default 400.",
    })
    .register(fieldFlags, {
      flag: "--level <level>",
      about: "level of the events: LEVEL (default error)",
    }),
  watch: watched.nullable().optional().meta({
    description:
      "Events that count as its ping while they fire: a Prometheus' Watchdog, for example. Or the source whose reports of jobs count.",
  }),
};

/** The body that creates a heartbeat. */
export const heartbeatCreate = z.strictObject({
  name: heartbeatName,
  slug: heartbeatSlug
    .optional()
    .meta({
      description: "Its name in addresses that have a source's short token; default from the name.",
    })
    .register(fieldFlags, {
      flag: "--slug <slug>",
      about: "its name in addresses that use a source's short token",
    }),
  uuid: z
    .uuid({ error: "must be a UUID" })
    .optional()
    .meta({
      description: "A UUID that its job calls already; minted where left out.",
    })
    .register(fieldFlags, { flag: "--uuid <uuid>", about: "the UUID that its job calls already" }),
  ...heartbeatPace,
});
export type HeartbeatCreate = z.output<typeof heartbeatCreate>;

/** The body that changes the given fields. */
export const heartbeatChange = z.strictObject({
  name: heartbeatName.optional(),
  slug: heartbeatSlug.optional(),
  ...heartbeatPace,
});
export type HeartbeatChange = z.output<typeof heartbeatChange>;

export const heartbeatAnswer = z
  .object({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    period_seconds: z.int().optional(),
    cron: z.string().optional(),
    timezone: z.string(),
    grace_seconds: z.int(),
    max_run_seconds: z.int().nullable(),
    level: z.int(),
    watch: watched.nullable(),
    rule: z.string().nullable().meta({
      description:
        "The first rule that matches its events now; null: none does, and no alert opens.",
    }),
    state: z.enum(["new", "up", "started", "late", "down", "paused"]),
    reason: z.enum(["missing", "failed", "overrun"]).nullable().meta({
      description: "Why it is down.",
    }),
    last_at: z.int().nullable().meta({ description: "When its latest run ended." }),
    last_duration: z
      .int()
      .nullable()
      .meta({ description: "Seconds; null if its start was not reported." }),
    last_message: z
      .string()
      .nullable()
      .meta({
        description: `The end of what it said last, at most ${MESSAGE_BYTES} bytes.`,
      }),
    expected_at: z.int().nullable(),
    due_at: z.int().nullable().meta({
      description: "When it counts as missing, or its run as too long; null while nothing is due.",
    }),
    created_at: z.int(),
  })
  .meta({ id: "Heartbeat" });
export type HeartbeatAnswer = z.output<typeof heartbeatAnswer>;

/** A heartbeat with its addresses, which only these answers contain. */
export const heartbeatAddress = heartbeatAnswer
  .extend({
    ping_url: z.string().meta({ description: "Shown this once." }),
    uuid: z.string().meta({ description: "The same in Healthchecks' form. Shown this once." }),
  })
  .meta({ id: "HeartbeatWithAddress" });

const outcome = z.enum(["running", "ok", "failed", "missing", "overrun", "unknown"]).meta({
  description: "`unknown`: the box was down when a report may have come.",
});
export type RunOutcome = z.output<typeof outcome>;

export const heartbeatRun = z
  .object({
    outcome,
    started_at: z.int().nullable(),
    ended_at: z.int().nullable(),
    duration: z.int().nullable(),
    exit_status: z.int().nullable(),
    rid: z.string().nullable(),
    late_seconds: z.int().meta({
      description: "Seconds that its first report was late, within the grace; 0: in time.",
    }),
  })
  .meta({ id: "HeartbeatRun" });
export type HeartbeatRun = z.output<typeof heartbeatRun>;
