import { type Author, auditAction } from "../../ground/audit/record.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { html } from "../../ground/kit/html.ts";
import { turns } from "../../ground/kit/turns.ts";
import { mayTell } from "../../ground/store/durable.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { tenantAs } from "../../tenant/tenant-as.ts";
import type { AppContext } from "../http/raw-route.ts";
import { noSessionCookie } from "../http/session-cookie.ts";
import { goTo, sendDocument, sendFile, sendHtml } from "./answer.ts";
import { bar } from "./bar.ts";
import { drawSections, drawView, shownOnce } from "./draw.ts";
import { type FlashMessages, flashLine, refusedLine } from "./flash.ts";
import { createOnce } from "./once.ts";
import { type PageRequest, readForm } from "./page-request.ts";
import { viewOf } from "./panes.ts";
import { refusalPage } from "./refusal-page.ts";
import { type Found, type FoundFile, type Routing, targetOf } from "./routing.ts";
import type { Form, FormDone, PageCall, View, Who } from "./screen.ts";
import { screens } from "./screens.ts";
import { documentTitle, type Files, shell } from "./shell.ts";
import type { System } from "./system-port.ts";
import { facesOf } from "./ui/faces.ts";

interface ScreenServerDeps {
  tenant: Tenant;
  system: System;
  routing: Routing;
  said: FlashMessages;
  files: Files;
  address(c: AppContext): string;
}

interface ScreenServer {
  shown(asking: PageRequest, who: Who, found: Found): Promise<Response>;
  posted(asking: PageRequest, who: Who, found: Found & { form: Form }): Promise<Response>;
  file(asking: PageRequest, who: Who, found: FoundFile): Promise<Response>;
  missing(asking: PageRequest, who: Who): Response;
}

/** What goes with a session's end; only over https do browsers clear what they kept. */
function leaving(secure: boolean, what: "cached" | "all") {
  const cleared = what === "all" ? '"cache", "storage"' : '"cache"';
  const headers: Record<string, string> = secure ? { "Clear-Site-Data": cleared } : {};
  return { cookies: [noSessionCookie(secure)], headers };
}

/** Rows that a list may name. */
const MOST_ROWS = 256;

/** `row-7.c1Qx_2,row-8.q0aZ-9` */
function shownRows(named = ""): PageCall["rows"] {
  const rows = named.split(",", MOST_ROWS).filter((row) => row !== "");
  return new Map(
    rows.map((row) => {
      const [id = "", print = ""] = row.split(".");
      return [id, print];
    }),
  );
}

const PATHS: ReadonlySet<string> = new Set(screens.map(({ path }) => path));

/** What a script that draws only parts of a page needs of all of it. */
const pageHeaders = ({ title, headers }: View, { tenant }: PageCall, since: string) => ({
  ...headers,
  "X-Since": since,
  "X-Title": encodeURIComponent(documentTitle(title)),
  "X-Now": String(Math.floor(tenant.clock.now())),
});

/** The page that a form belongs to, where it isn't known on which it stood. */
function ownPage(found: Found) {
  const at = found.screen.path.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(found.params[name] ?? ""),
  );
  return { found, at, query: new URLSearchParams() };
}

/** A page asks twice, for its bar and for its navigation. */
function lookedAtOnce(system: System): System {
  let health: ReturnType<System["health"]> | null = null;
  return {
    health() {
      health ??= system.health();
      return health;
    },
  };
}

/** Draws screens and does what their forms say, for somebody who has signed in. */
export function createScreenServer(deps: ScreenServerDeps): ScreenServer {
  const { tenant, routing, said, files } = deps;
  const once = createOnce();

  const callOf = (asking: PageRequest, who: Who, params: Found["params"]): PageCall => {
    const { c, url, look, place, now } = asking;
    return {
      tenant,
      who,
      look,
      now,
      base: place.base,
      origin: place.origin,
      params,
      query: url.searchParams,
      at: url.pathname + url.search,
      system: lookedAtOnce(deps.system),
      address: deps.address(c),
      secure: place.secure,
      returned: null,
      shown: {},
      rows: shownRows(c.req.header("x-rows")),
      isOpen: c.req.method === "GET" && c.req.header("x-sections") !== undefined,
      leads: (path) => leads(path.replace(/[?#].*/, "")),
    };
  };

  const leads = (path: string) => (routing.screen(path) ?? routing.file(path)) !== null;

  const page = async (
    call: PageCall,
    view: View,
    done: FormDone | null,
    since: string,
  ): Promise<string> => {
    const drawn = await drawSections(view, null, call.shown);
    const { title, nav, heading } = view;
    const me = (await facesOf(call, call.who.accountId))(call.who.accountId);
    const main = drawView(view, drawn);
    const told = {
      said: done,
      ...(call.returned === null ? {} : { refused: refusedLine(call.returned.error) }),
    };
    const frame = {
      title,
      nav,
      heading: heading === undefined ? html`${title}` : heading,
      tools: await view.tools?.(),
      main,
      me,
    };
    const { script, at } = view;
    return shell(call, { ...frame, ...told, since, script, at }, files, PATHS);
  };

  /** Before anything is read for a page or parts of it: what changes from then on, its script is told. */
  const sinceNow = (): string => tenant.changes.after(null).next;

  /** Sections one after another, with what was done or wasn't; of a preview its own alone. */
  const sections = async (
    call: PageCall,
    view: View,
    { done, only }: { done: FormDone | null; only: string[] | null },
  ): Promise<string> => {
    const drawn = await drawSections(view, only, call.shown);
    if (only !== null) return [...drawn.values()].map(({ markup }) => markup).join("");
    const line =
      call.returned === null ? flashLine(done, call.base) : refusedLine(call.returned.error);
    return [line, bar(call), ...drawn.values()].map(({ markup }) => markup).join("");
  };

  return {
    async shown(asking, who, { screen, params }) {
      const asked = callOf(asking, who, params);
      const only = asking.c.req.header("x-sections");
      const call =
        only === undefined
          ? { ...asked, shown: shownOnce(said.shownAt(who.sessionId, asked.at)) }
          : asked;
      try {
        const since = sinceNow();
        const view = await viewOf(routing, screen, call);
        if ("elsewhere" in view)
          return goTo(asking.place.base + view.elsewhere, { tls: asking.asked.tls });
        if (only !== undefined) {
          const asked = only.split(",", 64);
          const drawn = await drawSections(view, asked);
          // The line at the top is of every page, and of none alone.
          const top = asked.includes("bar") ? [bar(call)] : [];
          const body = [...top, ...drawn.values()].map(({ markup }) => markup).join("");
          const headers = pageHeaders(view, call, since);
          return sendHtml({ status: 200, body, headers }, asking.asked);
        }
        const done = said.take(who.sessionId, call.at);
        const body = await page(call, view, done, since);
        const { headers = {} } = view;
        return sendHtml({ status: 200, body, once: done !== null, headers }, asking.asked);
      } catch (error) {
        return refused(asking, call, error);
      }
    },

    async posted(asking, who, found) {
      const { c, asked, place } = asking;
      const wanted = c.req.header("x-sections");
      const isScripted = wanted !== undefined;
      // "1": all of them. A preview names its section, and nothing else of the page is touched.
      const only = isScripted && wanted !== "1" ? wanted.split(",", 64) : null;
      const from = stoodOn(asking) ?? ownPage(found);
      const call = callOf(asking, who, found.params);
      const again: PageCall = {
        ...call,
        params: from.found.params,
        at: from.at,
        query: from.query,
      };
      const draw = async (next: PageCall, done: FormDone | null, status: number) => {
        const since = sinceNow();
        const view = await viewOf(routing, from.found.screen, next);
        if ("elsewhere" in view) return goTo(place.base + view.elsewhere, { tls: asked.tls });
        const body = isScripted
          ? await sections(next, view, { done, only })
          : await page(next, view, done, since);
        const headers = { ...pageHeaders(view, next, since), ...view.headers };
        return sendHtml({ status, body, once: true, headers }, asked);
      };
      const fields = await readForm(c);
      let done: FormDone;
      try {
        done = await once(asking, who, () => act(call, found.form, fields));
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status === 404 || error.status >= 500)
          return refused(asking, call, error);
        c.set("refusedAs", error.code);
        const returned = { action: asking.url.pathname, form: fields, error };
        const status = error.status === 400 ? 422 : error.status;
        return draw({ ...again, returned }, null, status).catch(() => refused(asking, call, error));
      }
      if (done.sheet !== undefined) return sendDocument(done.sheet, asked);
      const onTo = (to: string) => {
        const gone = done.signsOut
          ? leaving(place.secure, done.signsOut)
          : { cookies: done.cookies ?? [], headers: {} };
        if (!done.signsOut) said.put(who.sessionId, done);
        if (!isScripted) return goTo(place.base + to, { tls: asked.tls, ...gone });
        const headers = { "X-Go": place.base + to, ...gone.headers };
        return sendHtml({ status: 200, body: "", once: true, ...gone, headers }, asked);
      };
      try {
        if (done.shown !== undefined && done.to === undefined)
          return await draw({ ...again, shown: shownOnce(done.shown) }, done, 200);
        const to = done.to ?? from.at;
        const isHere = isScripted && to === from.at && done.cookies === undefined;
        return isHere ? await draw(again, done, 200) : onTo(to);
      } catch (error) {
        // It is done, whatever has become of the page that it was done on.
        if (!(error instanceof ServiceError)) throw error;
        return onTo("/alerts");
      }
    },

    async file(asking, who, { make, params }) {
      const call = callOf(asking, who, params);
      try {
        const file = await make(call);
        if ("status" in file) return sendDocument(file, asking.asked);
        return sendFile(file, asking.asked, () => mayTell(tenant.store));
      } catch (error) {
        return refused(asking, call, error);
      }
    },

    missing(asking, who) {
      const error = new ServiceError("not_found", "There is no such page.");
      return refused(asking, callOf(asking, who, {}), error);
    },
  };

  async function act(call: PageCall, form: Form, fields: URLSearchParams): Promise<FormDone> {
    if (form.reads) return form.act(call, fields);
    const author: Author = {
      accountId: call.who.accountId,
      via: "page",
      hint: call.who.sessionId,
      address: call.address,
      verb: form.verb,
      target: targetOf(form, call.params),
    };
    const owned = { ...call, tenant: tenantAs(tenant, author) };
    const done = await turns.during(`form ${form.verb}`, () => form.act(owned, fields));
    if (form.auditAlways) auditAction(tenant.store, author);
    return done;
  }

  /** The page of this box that a form stood on: browsers say which, since the policy lets them. */
  function stoodOn({ c, place: { base } }: PageRequest) {
    const referer = c.req.header("referer");
    if (referer === undefined || !URL.canParse(referer)) return null;
    const from = new URL(referer);
    if (!from.pathname.startsWith(`${base}/`)) return null;
    const path = from.pathname.slice(base.length);
    const found = routing.screen(path);
    if (found !== null) return { found, at: path + from.search, query: from.searchParams };
    // A page that came back with a form stands at the form's address.
    const form = routing.form(path);
    return form && ownPage(form);
  }

  /** What can't be shown has a page in the same frame; what isn't the caller's fault is thrown on. */
  function refused(asking: PageRequest, call: PageCall, error: unknown): Response {
    if (!(error instanceof ServiceError)) throw error;
    asking.c.set("refusedAs", error.code);
    const view = refusalPage(error, asking.c.get("requestId"), call.base);
    const body = shell(call, { ...view, said: null }, files, PATHS);
    const headers: Record<string, string> =
      error.retryAfter === undefined ? {} : { "Retry-After": String(error.retryAfter) };
    return sendHtml({ status: error.status, body, once: true, headers }, asking.asked);
  }
}
