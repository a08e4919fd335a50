import { restrictsNothing } from "./layer.ts";
import { MOST_PIECES } from "./rotation.ts";
import type { Layer } from "./schedule.ts";

/** Layers that one question may look at, over all the pieces it follows (contract §21). */
export const MOST_LOOKS = 500_000;

const DAYS = 366;

/**
 * Layers that a year's preview looks at: each change of any layer begins a piece, and each piece looks
 * at every layer. Overrides are not counted: they come and go.
 */
export function looksOf(layers: readonly Layer[]): number {
  const changes = layers.reduce((sum, layer) => sum + handovers(layer) + windowEnds(layer), 1);
  return Math.min(changes, MOST_PIECES) * (1 + layers.length);
}

/** One person, however often named, never hands over. Who is taken beside them changes nothing: each turn is one piece. */
function handovers({ participants, shift_minutes }: Layer): number {
  return new Set(participants).size > 1 ? Math.ceil((DAYS * 24 * 60) / shift_minutes) : 0;
}

function windowEnds({ restriction }: Layer): number {
  if (restriction === null || restrictsNothing(restriction)) return 0;
  const days = restriction.days.length === 0 ? 7 : restriction.days.length;
  // With holidays a piece ends at the latest after eight days.
  const steps = restriction.holidays === undefined ? 0 : Math.ceil(DAYS / 8);
  return Math.ceil((2 * DAYS * days) / 7) + steps;
}
