import type { Clock } from "../../ground/kit/clock.ts";
import { parseToken } from "../../ground/kit/ids.ts";
import type { Log } from "../../ground/kit/log.ts";
import { bearer } from "./bearer.ts";

/** What can be opened, and by what a caller failed to. */
type AuthPlane = "ingest" | "api" | "session" | "pairing" | "relay";
type Offered = "nothing" | "ingest token" | "api key" | "session token" | "other";

/** A request that was refused; `tenant`, `project` and `source` where they are known. */
export interface Refused {
  /** The route's noun, or `none`. */
  class: string;
  /** An error code, or a status where a page was answered. */
  code: string;
  tenant?: string;
  /** The project's row id. */
  project?: number;
  source?: string;
}

/**
 * Counts what was refused since the start, for the metrics, and says it in the log: at once the first time, then
 * in one line a minute at most. Nothing of a request is in either, and no token.
 */
export type Refusals = ReturnType<typeof createRefusals>;

const LINE_MS = 60_000;
/** Kinds in one line; what is more is in the metrics. */
const MOST_KINDS = 50;

export function createRefusals(clock: Clock, log: Log) {
  const requests = new Map<string, { class: string; code: string; n: number }>();
  const failures = new Map<string, { plane: AuthPlane; offered: Offered; n: number }>();
  const unsaid = new Map<string, object & { n: number }>();
  let saidAt = Number.NEGATIVE_INFINITY;

  const say = (what: object, n: number) => {
    const key = JSON.stringify(what);
    if (unsaid.has(key) || unsaid.size < MOST_KINDS) count(unsaid, key, what, n);
    const now = clock.mono();
    if (now - saidAt < LINE_MS) return;
    saidAt = now;
    log.warn({ refused: [...unsaid.values()] }, "requests were refused");
    unsaid.clear();
  };
  return {
    /** `loud`: worth a line in the log, and not only a count. `n`: events, where it was some. */
    request(refused: Refused, { loud, n = 1 }: { loud: boolean; n?: number }) {
      const { class: noun, code } = refused;
      count(requests, `${noun} ${code}`, { class: noun, code }, n);
      if (loud) say(refused, n);
    },
    /** Nothing was opened. `authorization` is the header as it came: only the kind of its token is kept. */
    auth(plane: AuthPlane, authorization: string | undefined) {
      const failed = { plane, offered: kindOf(authorization) };
      count(failures, `${plane} ${failed.offered}`, failed, 1);
      say(failed, 1);
    },
    requests: () => [...requests.values()],
    failures: () => [...failures.values()],
  };
}

function count<T extends object>(
  counts: Map<string, T & { n: number }>,
  key: string,
  what: T,
  n: number,
): void {
  const known = counts.get(key);
  if (known === undefined) counts.set(key, { ...what, n });
  else known.n += n;
}

const KINDS = { ptk: "api key", pti: "ingest token", pts: "session token" } as const;

function kindOf(authorization: string | undefined): Offered {
  if (authorization === undefined || authorization === "") return "nothing";
  const token = bearer(authorization);
  const plane = token === null ? undefined : parseToken(token)?.plane;
  return plane === undefined ? "other" : KINDS[plane];
}

/** Statuses that say that a caller is set up wrongly; the rest is everyday. */
const LOUD: ReadonlySet<number> = new Set([400, 401, 403, 411, 413, 415]);

export function isLoud(status: number): boolean {
  return LOUD.has(status);
}

/** The noun of a path: `rules` of `/v1/projects/shop/rules/x`, `pair` of `/pair`. */
export function nounOf(path: string): string {
  const [, first = "", second = "", , third = ""] = path.split("/");
  if (first !== "v1") return first;
  return second === "projects" && third !== "" ? third : second;
}
