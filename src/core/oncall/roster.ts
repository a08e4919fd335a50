import { readLayer } from "./layer.ts";
import type { Override, Schedule } from "./schedule.ts";
import { Zone } from "./zone.ts";

/** The final schedule's answer, the same over all of [since, until) (Unix seconds). */
export interface RosterPiece {
  since: number;
  until: number;
  /** Everybody who is on call; none: nobody. */
  accounts: readonly string[];
  /** The layer that decides; null under an override and when nobody is on call. */
  layer: string | null;
  override_id: string | null;
  /** Nobody is on call and nobody was promised: the schedule covers hours, and none of its layers has these. */
  isOff?: boolean;
}

/**
 * Reads a schedule: a function from an instant to the piece around it. Overrides beat layers, the
 * later layer beats the earlier, the newer override the older (contract §5). Each layer is asked
 * again only when its last answer has run out, so walking along the pieces is cheap.
 */
export function readSchedule(schedule: Schedule): (at: number) => RosterPiece {
  const zone = new Zone(schedule.timezone);
  const newestFirst = schedule.overrides.toReversed();
  const overrideAt = remembered((at) => overrideSpan(newestFirst, at));
  const lastLayerFirst = schedule.layers.toReversed().map((layer) => ({
    name: layer.name,
    spanAt: remembered(readLayer(layer, zone, schedule.holidays)),
  }));
  return (at) => {
    let { since, until, override } = overrideAt(at);
    if (override !== null) {
      return {
        since,
        until,
        accounts: [override.account_id],
        layer: null,
        override_id: override.id,
      };
    }
    let isOff = schedule.covers === "hours" && lastLayerFirst.length > 0;
    for (const { name, spanAt } of lastLayerFirst) {
      const span = spanAt(at);
      isOff &&= !span.open;
      since = Math.max(since, span.since);
      until = Math.min(until, span.until);
      const { accounts } = span;
      if (accounts.length > 0) return { since, until, accounts, layer: name, override_id: null };
    }
    return {
      since,
      until,
      accounts: [],
      layer: null,
      override_id: null,
      ...(isOff && { isOff }),
    };
  };
}

interface OverrideSpan {
  since: number;
  until: number;
  override: Override | null;
}

/** The newest override that covers this instant. */
function overrideSpan(newestFirst: readonly Override[], at: number): OverrideSpan {
  let since = -Infinity;
  let until = Infinity;
  for (const override of newestFirst) {
    const { starts_at, ends_at } = override;
    if (starts_at <= at && at < ends_at) {
      return { since: Math.max(since, starts_at), until: Math.min(until, ends_at), override };
    }
    if (ends_at <= at) since = Math.max(since, ends_at);
    else until = Math.min(until, starts_at);
  }
  return { since, until, override: null };
}

/** Keeps the last span and answers from it for as long as it holds. */
function remembered<S extends { since: number; until: number }>(
  spanAt: (at: number) => S,
): (at: number) => S {
  let last: S | undefined;
  return (at) => {
    if (last === undefined || at < last.since || at >= last.until) last = spanAt(at);
    return last;
  };
}
