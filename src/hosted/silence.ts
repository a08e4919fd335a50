/** With fewer boxes than this no share of them says anything about the service. */
export const FEWEST_BOXES = 20;
/** A box that lives is heard each minute: one not heard for so long missed a heartbeat. */
export const UNHEARD_SECONDS = 90;

/** What one look at the heartbeats finds. */
export interface HeartbeatSurvey {
  /** Boxes whose silence would be news: heard once, on no leave and not known to be silent. */
  watched: number;
  /** Those of them that were not heard for `UNHEARD_SECONDS`. */
  unheard: number;
  /** Nobody looked for a while, or the clock was set back: nothing is known of the time between. */
  away: boolean;
  /** The look before this one was held. */
  held: boolean;
}

/**
 * - `count`: who has been silent for longer than their tenant allows is silent.
 * - `hold`: it is this service that isn't reached (network, load balancer), so nobody is called silent.
 * - `afresh`: every box counts as heard now.
 */
export type SurveyVerdict = "count" | "hold" | "afresh";

/** What a look may say. A hold ends once more than half are heard, and then everyone starts afresh. */
export function judgeSurvey({ watched, unheard, away, held }: HeartbeatSurvey): SurveyVerdict {
  const tells = watched >= FEWEST_BOXES;
  if (held) return tells && 2 * (watched - unheard) <= watched ? "hold" : "afresh";
  if (away) return "afresh";
  return tells && 2 * unheard > watched ? "hold" : "count";
}
