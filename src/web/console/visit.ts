import type { ErrorCode } from "../../ground/kit/errors.ts";
import type { Markup } from "../../ground/kit/html.ts";
import type { PageCall } from "./screen.ts";

/** One request for a page that needs no session: signing in, taking a seat. */
export interface Visit
  extends Pick<
    PageCall,
    "tenant" | "query" | "look" | "base" | "origin" | "now" | "address" | "secure"
  > {
  /** Below `base`, without a query. */
  path: string;
  cookies: Readonly<Record<string, string>>;
  /** What its browser calls itself. */
  agent: string;
  /** Whether it comes from this machine, from the user who runs the box. */
  isOwnUsers(): boolean;
  /** Counts a try to come in by its address. Throws ServiceError rate_limited. */
  tried(): void;
}

export interface VisitAnswer {
  /** 200 where absent. */
  status?: 200 | 400 | 401 | 404 | 422 | 429;
  title: string;
  main: Markup;
  cookies?: readonly string[];
  headers?: Readonly<Record<string, string>>;
  /** A script that only this page has, by its name in `src/web/browser/pages`. */
  script?: string;
  /** Why it isn't what was asked for, for the counts. */
  refusedAs?: ErrorCode;
}

/** A page that needs no session, and what its form does. To go on elsewhere: an address below `base`. */
export interface OpenPage {
  path: string;
  get(visit: Visit): Visited | Promise<Visited>;
  post?(visit: Visit, form: URLSearchParams): Promise<Visited>;
}

export interface GoOn {
  to: string;
  cookies?: readonly string[];
}

/** To a page that isn't this box's: a whole address that the box made itself. */
interface GoAway {
  away: string;
  cookies?: readonly string[];
}

/** What becomes of a visit. */
export type Visited = VisitAnswer | GoOn | GoAway;

/** Where somebody wanted to go before they signed in: an address of this box, never another's. */
export function wanted(query: URLSearchParams): string {
  const to = query.get("to") ?? "";
  const isOwn = /^\/(?![/\\])[^\s\\]*$/.test(to) && to.length <= 2048;
  return isOwn ? to : "/alerts";
}
