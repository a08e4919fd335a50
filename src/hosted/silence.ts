/** With fewer boxes than this, how many are unheard says nothing about the service. */
export const FEWEST_BOXES = 20;
/** A live box reports each minute: one that is unheard for so long missed a heartbeat. */
export const UNHEARD_SECONDS = 90;

/** What one look at the heartbeats finds. */
export interface HeartbeatSurvey {
  /** Boxes that have reported, stopped unplanned if at all, and aren't known to be silent. */
  watched: number;
  /** How many of them were unheard for `UNHEARD_SECONDS`. */
  unheard: number;
  /** Nobody looked for a while, or the clock was set back: nothing is known of that time. */
  away: boolean;
  /** Whether the previous look was held. */
  held: boolean;
}

/**
 * What a look does.
 * - `count`: a box that has been silent for longer than its tenant allows is silent.
 * - `hold`: this service is unreachable (network, load balancer), so no box is called silent.
 * - `afresh`: every box counts as heard now.
 */
type SurveyVerdict = "count" | "hold" | "afresh";

/** Decides what a look does. A hold ends once more than half are heard, and then every box counts as heard now. */
export function judgeSurvey({ watched, unheard, away, held }: HeartbeatSurvey): SurveyVerdict {
  const tells = watched >= FEWEST_BOXES;
  if (held) return tells && 2 * (watched - unheard) <= watched ? "hold" : "afresh";
  if (away) return "afresh";
  return tells && 2 * unheard > watched ? "hold" : "count";
}
