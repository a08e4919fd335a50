import { calendarOf, shiftsCalendarOf } from "../../core/oncall/answers.ts";
import { CALENDAR_SECRET, type FoundCalendar, findCalendar } from "../../core/oncall/calendars.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { sha256 } from "../../ground/kit/ids.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { rawOperation, textAnswer } from "./raw-operation.ts";
import type { AppContext, RawRoute } from "./raw-route.ts";
import type { Serving } from "./serve-route.ts";

/** Where calendar programs read: nothing is asked for but the address. */
export const CALENDAR = "/calendar";
const PATH = `${CALENDAR}/{file}`;

const DAY = 86_400;

/** `/calendar/{secret}.ics` (contract §5, On-call). An address that opens nothing has one answer, whatever the reason. */
export function calendarRoute(serving: Serving): RawRoute {
  return { method: "GET", path: PATH, handle: (c) => shown(c, serving) };
}

async function shown(c: AppContext, serving: Serving): Promise<Response> {
  const { limits } = serving;
  const found = await find(c.req.param("file") ?? "", serving);
  if (found === null) {
    c.set("rateHeaders", limits.tries.spend(`${serving.address(c)} calendar`));
    throw new ServiceError("not_found", "There is no such calendar.");
  }
  const { tenant, calendar } = found;
  serving.known(c);
  c.set("tenant", tenant);
  c.set("rateHeaders", limits.tries.spend(`${tenant.id} calendar ${calendar.id}`));
  const text = await textOf(tenant, calendar);
  // The same shifts are the same calendar, whenever it was written.
  const tag = `W/"${sha256(text.replace(/^DTSTAMP:.*$/gm, "")).slice(0, 32)}"`;
  const headers = {
    etag: tag,
    "cache-control": "private, no-cache",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex, nofollow, noarchive",
  };
  if (isKnown(c.req.header("if-none-match"), tag))
    return new Response(null, { status: 304, headers });
  return new Response(text, {
    headers: { ...headers, "content-type": "text/calendar; charset=utf-8" },
  });
}

async function find(
  file: string,
  { findLinked }: Serving,
): Promise<{ tenant: Tenant; calendar: FoundCalendar } | null> {
  const secret = file.replace(/\.ics$/, "");
  if (!CALENDAR_SECRET.test(secret)) return null;
  const hash = sha256(secret);
  const tenant = await findLinked(hash);
  const calendar = tenant && findCalendar(tenant.store, hash);
  return tenant !== null && calendar !== null ? { tenant, calendar } : null;
}

/** From the beginning of a day, so that it stays the same until the next unless somebody changes something. */
function textOf({ store, slices, clock }: Tenant, calendar: FoundCalendar): Promise<string> {
  const now = unixSeconds(clock);
  const at = { now, today: now - (now % DAY) };
  const asking = { reader: store, slices };
  const { schedule, accountId } = calendar;
  return schedule === null
    ? shiftsCalendarOf(asking, accountId, at)
    : calendarOf(asking, schedule, at);
}

/** Compared weakly, as If-None-Match is (RFC 9110 §13.1.2). */
function isKnown(header: string | undefined, tag: string): boolean {
  const bare = (one: string) => one.trim().replace(/^W\//, "");
  return (header ?? "").split(",").map(bare).includes(bare(tag));
}

/** As the OpenAPI document shows it. */
export const calendarOperation = rawOperation("GET", PATH, {
  tag: "On-call",
  name: "followCalendar",
  summary: "The calendar behind a secret address, `{secret}.ics`: 30 days back, 180 ahead",
  answers: {
    200: textAnswer("OK", "text/calendar"),
    304: "As If-None-Match has it",
    404: "Never was, was replaced, or is revoked: one answer for all",
    429: "More than ten reads a minute; Retry-After says how long to wait",
  },
});
