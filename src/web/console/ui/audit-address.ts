import type { AuditFilter } from "../../../ground/audit/list.ts";
import { auditKinds } from "../../../ground/audit/things.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { dated } from "../../../ground/kit/wall-time.ts";
import { isManager } from "../../../people/roles.ts";
import type { PageCall } from "../screen.ts";

/** What an address asks of the audit: empty where it doesn't say. */
export type AskedAudit = ReturnType<typeof askedAudit>;

export const NOBODY = "nobody";
const DAY_HOURS = 36 * 3600;
const MOST_CHARS = 300;

/** What can't be is passed over. */
export function askedAudit({ query }: Pick<PageCall, "query">) {
  const text = (name: string) => (query.get(name) ?? "").trim().slice(0, MOST_CHARS);
  const kind = text("kind");
  const [day, before] = [text("day"), text("before")];
  return {
    /** An account's id, or `nobody`: whoever has none. */
    person: text("person"),
    /** An id or a name. */
    thing: text("thing"),
    verb: text("verb"),
    kind: auditKinds.includes(kind) ? kind : "",
    /** `2026-11-22`, on the reader's clock. */
    day: /^\d{4}-\d{2}-\d{2}$/.test(day) && dated(day, "UTC") !== null ? day : "",
    before: /^[1-9]\d{0,14}$/.test(before) ? before : "",
  };
}

/** The same as the list of entries takes it. A thing without a kind says nothing. */
export function filterOfAudit(
  { person, kind, thing, verb, day, before }: AskedAudit,
  zone: string,
): Omit<AuditFilter, "limit"> {
  const target = thing === "" ? kind : `${kind}:${thing}`;
  const since = day === "" ? null : dated(day, zone);
  // Days have 23 to 25 hours: the next one begins where its own midnight is.
  const next = since === null ? null : dated(dayAfter(since + DAY_HOURS, zone), zone);
  return {
    ...(person === "" ? {} : { account: person === NOBODY ? null : person }),
    ...(kind === "" ? {} : { target }),
    ...(verb === "" ? {} : { verb }),
    ...(since === null ? {} : { since }),
    ...(next === null ? {} : { until: next }),
    ...(before === "" ? {} : { before: Number(before) }),
  };
}

const days = (zone: string) => new Intl.DateTimeFormat("sv-SE", { timeZone: zone });
const dayAfter = (at: number, zone: string) => days(zone).format(new Date(at * 1000));

/** An address of the audit, below the base, at `path`. */
export function auditAddress(asked: Partial<AskedAudit>, path = "/audit"): string {
  const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== ""));
  return query.size === 0 ? path : `${path}?${query}`;
}

/** The way from a thing's page to what was changed of it; nothing for whom the audit isn't. `id`: what it keeps for life. */
export function changesLink(
  { base, who }: Pick<PageCall, "base" | "who">,
  kind: string,
  id: string | number,
): Markup | null {
  if (!isManager(who.role)) return null;
  const href = base + auditAddress({ kind, thing: String(id) });
  return html`<p class="soft small"><a href="${href}">Who changed it</a></p>`;
}
