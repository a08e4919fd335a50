import { json } from "./answer.ts";
import type { RawRoute } from "./raw-route.ts";

/** Whose the box is, for load balancers and monitors. */
export interface BoxRole {
  /** "alone": the owner, while it doesn't hear the database. "none": it stands by, and nobody serves. */
  role: "owner" | "alone" | "standby" | "none";
  /** The name of the machine that serves; null where there is none, or only this one can be. */
  owner: string | null;
  /** Rises with each taking. */
  epoch: number;
  /** Seconds by which the copy here is behind; 0 on the owner. */
  behind: number;
  /** A machine that stands by, here or elsewhere, couldn't upgrade the box. Absent: none is known. */
  upgrade_failed?: boolean;
  /** It serves the box, and nobody hears anything for now. */
  isStopped?: boolean;
}

/** 200 from whoever serves, 503 from whoever stands by or can't answer. */
export function roleRoute(now: () => BoxRole): RawRoute {
  return {
    method: "GET",
    path: "/v1/role",
    waitsForNothing: true,
    handle() {
      const { isStopped = false, ...said } = now();
      return json(!isStopped && /^(?:owner|alone)$/.test(said.role) ? 200 : 503, said);
    },
  };
}
