import { configVersions } from "../../core/projects/projects.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { mustNotBeInDoubt } from "../../ground/store/durable.ts";
import { findSession } from "../../people/sessions.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { wantsPage } from "../http/accept.ts";
import type { AppContext } from "../http/raw-route.ts";
import { WALL } from "../http/resources/walls.ts";
import { mustBeOwnPost } from "../http/same-site.ts";
import type { Serving } from "../http/serve-route.ts";
import { sessionCookieName } from "../http/session-cookie.ts";
import { goTo } from "./answer.ts";
import { assets } from "./assets.ts";
import { createFlashMessages } from "./flash.ts";
import { createLive } from "./live.ts";
import { openPages } from "./open-pages.ts";
import { askingOf, type PageRequest } from "./page-request.ts";
import { MANIFEST, manifest, WORKER } from "./pocket/manifest.ts";
import { createRouting } from "./routing.ts";
import type { Who } from "./screen.ts";
import { screens } from "./screens.ts";
import { createScreenServer } from "./serve-screen.ts";
import type { System } from "./system-port.ts";
import { answerVisit } from "./visits.ts";
import { createWall, isWall } from "./wall/serve.ts";

export interface ConsoleDeps {
  tenant: Tenant;
  serving: Serving;
  system: System;
  /** Whether TLS ends here. */
  tls: boolean;
}

/** The pages for people, as a function of a request. null: it isn't for them. */
type Console = (c: AppContext) => Promise<Response | null>;

/** The box in a browser: opened by a cookie, never by an API key, and no page is for programs. */
export function createConsole({ tenant, serving, system, tls }: ConsoleDeps): Console {
  const routing = createRouting(screens);
  const open = new Map(openPages.map((page) => [page.path, page]));
  const files = assets();
  const said = createFlashMessages(() => unixSeconds(tenant.clock));
  const pages = createScreenServer({
    tenant,
    system,
    routing,
    said,
    files,
    address: serving.address,
  });

  const live = createLive(tenant);
  const wall = createWall({ tenant, system, serving, files });

  return async (c) => {
    const { pathname: path } = new URL(c.req.url);
    const encoding = c.req.header("accept-encoding");
    const isFile = path.startsWith("/assets/");
    if (isFile || (path === WORKER && isRead(c))) {
      c.set("tenant", null);
      return isFile ? files.serve(path, encoding) : files.worker(encoding);
    }
    if (path === MANIFEST && isRead(c)) return manifest(askingOf(c, tenant, tls).place, files);
    const isLive = path === "/live";
    if (!isLive && !wantsPage(c.req.header("accept"))) return null;
    const asking = askingOf(c, tenant, tls);
    const { method, place } = asking;
    if (method !== "GET" && method !== "POST") return null;
    if (method === "POST") mustBeOwn(asking);
    const ofWall = method === "GET" && isWall(path);
    if (ofWall && path !== WALL) return wall(asking, null);
    const page = open.get(path);
    if (page !== undefined)
      return answerVisit(asking, page, {
        tenant,
        files,
        address: serving.address(c),
        // The same tries as those of pairing.
        limit: serving.limits.pair,
      });
    const screen = method === "GET" ? routing.screen(path) : null;
    const form = method === "POST" ? routing.form(path) : null;
    const file = method === "GET" && screen === null ? routing.file(path) : null;
    const who = signedIn(tenant, asking);
    const on = method === "GET" ? redirectOf(tenant, path) : null;
    const isPage = [screen, form, file, on].some(Boolean) || isLive || ofWall;
    if (who === null) return isPage ? toSignIn(asking) : null;
    c.set("tenant", tenant);
    c.set("rateHeaders", serving.limits.api.spend(who.sessionId));
    serving.known(c);
    if (isLive) return live(c, who.sessionId);
    if (ofWall) return wall(asking, who);
    if (on !== null) return goTo(place.base + on, { tls });
    if (screen !== null) return pages.shown(asking, who, screen);
    if (file !== null) return pages.file(asking, who, file);
    // What people do to alerts is handed over.
    if (form !== null && !/^\/(a|alerts|signout)(\/|$)/.test(path)) mustNotBeInDoubt(tenant.store);
    return form === null ? pages.missing(asking, who) : pages.posted(asking, who, form);
  };

  function toSignIn({ c, method, place, url }: PageRequest): Response {
    serving.refusals.auth("session", undefined);
    c.set("rateHeaders", serving.limits.failures.spend(serving.address(c)));
    // Its script says so on the page that is open: what was typed there stays.
    const isScript = c.req.header("x-sections") !== undefined || url.pathname === "/live";
    if (isScript) throw new ServiceError("unauthorized", "Sign in first.");
    const to = method === "GET" && url.pathname !== "/" ? url.pathname + url.search : "";
    return goTo(`${place.base}/signin${to === "" ? "" : `?to=${encodeURIComponent(to)}`}`, { tls });
  }
}

const isRead = (c: AppContext): boolean => c.req.method === "GET" || c.req.method === "HEAD";

/** Programs are answered as if there were no page. */
function mustBeOwn({ c, place, url }: PageRequest): void {
  const headers = { site: c.req.header("sec-fetch-site"), origin: c.req.header("origin") };
  mustBeOwnPost(headers, [new URL(place.origin).origin, url.origin]);
}

function signedIn(tenant: Tenant, { cookies, place, now }: PageRequest): Who | null {
  const cookie = cookies[sessionCookieName(place.secure)];
  const found = cookie === undefined ? null : findSession(tenant.store, cookie, now);
  if (found === null) return null;
  tenant.sessionSeen(found);
  const { accountId, role, name, email, sessionId } = found;
  return { accountId, role, name, email, sessionId };
}

/** Addresses that are no pages and lead to one: where that is; null for every other. */
function redirectOf({ store }: Pick<Tenant, "store">, path: string): string | null {
  // Nothing can have happened yet: what is done first, before a list of alerts.
  if (path === "/") return configVersions(store).length === 0 ? "/welcome" : "/alerts";
  if (path === "/system/audit") return "/audit";
  // Each other tab of a project has an address by its name; this is the first.
  return /^(\/p\/[^/]+)\/sources\/?$/.exec(path)?.[1] ?? null;
}
