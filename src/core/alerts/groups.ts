import { ServiceError } from "../../ground/kit/errors.ts";
import type { Store } from "../../ground/store/store.ts";
import { type GroupedAlert, type Matching, matching } from "./matching.ts";
import type { TriageFilter } from "./query.ts";

/** Alerts by rule, all that match counted before a page is cut. */

/** A row of the list: one alert, or all of a rule that match, the most urgent first. */
export interface AlertGroup {
  /** One at least. */
  alerts: readonly GroupedAlert[];
  isGroup: boolean;
}

export interface GroupFilter extends Matching, Pick<TriageFilter, "after" | "limit"> {
  /** Whether the alerts of a rule of which so many match are one row. */
  isGroup(ruleId: number, count: number): boolean;
}

/**
 * First what is open and pages somebody, then what pages nobody, what somebody has, and what is silenced; of each by level,
 * of a level single alerts before groups, then the newest. A group stands where the most urgent of its alerts would.
 */
export async function groupAlerts(store: Store, filter: GroupFilter) {
  const behind = filter.after === undefined ? null : placeOf(filter.after);
  const { ofRule, complete } = await matching(store, filter);
  const rows = [...ofRule].flatMap(([rule, of]) =>
    filter.isGroup(rule, of.length) ? [groupRow(of)] : of.map(aloneRow),
  );
  const rest = behind === null ? rows : rows.filter(({ place }) => inOrder(behind, place) < 0);
  rest.sort((a, b) => inOrder(a.place, b.place));
  const shown = rest.slice(0, filter.limit);
  const last = rest.length > shown.length ? shown.at(-1) : undefined;
  return {
    groups: shown.map(({ alerts, isGroup }) => ({ alerts, isGroup })),
    /** What to go on with; null at the end. */
    next: last === undefined ? null : last.place.join("."),
    /** false: more match than one look takes, and the rest is in no count. */
    complete,
  };
}

/** Most urgent first. */
type Place = readonly [urgency: number, level: number, isGroup: number, id: number];

interface PlacedRow {
  alerts: readonly GroupedAlert[];
  isGroup: boolean;
  place: Place;
}

function aloneRow(one: GroupedAlert): PlacedRow {
  return { alerts: [one], isGroup: false, place: [one.urgency, one.level, 0, one.id] };
}

function groupRow(alerts: readonly GroupedAlert[]): PlacedRow {
  const { urgency, level, id } = alerts[0] as GroupedAlert;
  return { alerts, isGroup: true, place: [urgency, level, 1, id] };
}

const inOrder = (a: Place, b: Place): number =>
  a[0] - b[0] || b[1] - a[1] || a[2] - b[2] || b[3] - a[3];

function placeOf(cursor: string): Place {
  const found = /^([0-3])\.(\d{1,16})\.([01])\.(\d{1,16})$/.exec(cursor)?.slice(1).map(Number);
  if (found !== undefined) return found as unknown as Place;
  const reason = "is not the next of a page";
  throw new ServiceError("invalid_request", `/after: ${reason}`, {
    details: [{ field: "/after", reason }],
  });
}
