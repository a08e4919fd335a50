import type { RunEvidence } from "./evidence.ts";
import type { Moment } from "./kills.ts";

/** The figures of a run. */
export interface Figures {
  kills: Record<Moment, number>;
  events: { accepted: number; refused: number; unknown: number; stored: number };
  /** Reports on named alerts that were answered. */
  named: { firings: number; ends: number };
  /** Silences, and acknowledgements that end by themselves, that were answered. */
  quiet: { silences: number; rings: number };
  /** Pushes that the push services accepted, and browsers whose revocation was answered. */
  pushes: { taken: number; revoked: number };
  alerts: number;
  /** Requests at the receivers. `duplicates`: repeated although they were accepted. */
  arrivals: number;
  duplicates: number;
  /** Time from the start of a process until it listens. */
  startMs: { median: number; slowest: number };
  /** Time from the loss of a machine until the other served; null without a database. */
  takeMs: { times: number; median: number; slowest: number } | null;
  drainSeconds: number;
  seconds: number;
}

/** The input of the figures. */
export interface Seen {
  evidence: RunEvidence;
  /** Milliseconds of each successful start. */
  startTimes: readonly number[];
  /** Milliseconds of each take-over of a lost machine's box. */
  takeTimes: readonly number[];
  killed: Record<Moment, number>;
}

export function figuresOf({
  evidence,
  startTimes,
  takeTimes,
  killed,
}: Seen): Omit<Figures, "drainSeconds" | "seconds"> {
  const { events, words, arrivals, lines, alerts } = evidence;
  const answered = words.filter(({ outcome }) => outcome === "accepted");
  const said = (what: string) => answered.filter(({ status }) => status === what).length;
  const count = (outcome: string) => events.filter((event) => event.outcome === outcome).length;
  const taken = new Set<string>();
  const duplicates = arrivals.filter(({ endpoint, eventId, acceptedAt }) => {
    const key = `${endpoint} ${eventId}`;
    const again = taken.has(key);
    if (acceptedAt !== null) taken.add(key);
    return again;
  }).length;
  return {
    kills: killed,
    events: {
      accepted: count("accepted"),
      refused: count("refused"),
      unknown: count("unknown"),
      stored: lines.length,
    },
    named: { firings: said("firing"), ends: said("resolved") },
    quiet: { silences: evidence.hushes.length, rings: evidence.rings.length },
    pushes: {
      taken: evidence.pushes.filter(({ wasTaken }) => wasTaken).length,
      revoked: evidence.devices.filter(({ revokedAt }) => revokedAt !== null).length,
    },
    alerts: alerts.length,
    arrivals: arrivals.length,
    duplicates,
    startMs: spread(startTimes),
    takeMs: takeTimes.length === 0 ? null : { times: takeTimes.length, ...spread(takeTimes) },
  };
}

function spread(times: readonly number[]): { median: number; slowest: number } {
  const sorted = times.toSorted((a, b) => a - b);
  return {
    median: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
    slowest: Math.round(sorted.at(-1) ?? 0),
  };
}
