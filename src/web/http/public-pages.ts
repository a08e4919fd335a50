import { unixSeconds } from "../../ground/kit/clock.ts";
import { type ErrorCode, errorStatus, ServiceError } from "../../ground/kit/errors.ts";
import type { PageAnswer } from "../../ground/page/answer.ts";
import { gateCookie, opensGate } from "../../records/reports/cookie.ts";
import { reportFeed } from "../../records/reports/feed.ts";
import { ensureGateKey, gateKey } from "../../records/reports/gate-key.ts";
import { publicHeaders } from "../../records/reports/headers.ts";
import { gatePage, notFoundPage, reportJson, reportPage } from "../../records/reports/page.ts";
import { gateOf, publicReport } from "../../records/reports/public.ts";
import type { ReportRow } from "../../records/reports/reports.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { prefersJson } from "./accept.ts";
import { type Limit, RateLimited } from "./limits.ts";
import type { AppContext, RawRoute } from "./raw-route.ts";
import { decodeText, readBytes } from "./read-request.ts";
import { sendPage } from "./send-page.ts";

export interface FoundReport {
  tenant: Tenant;
  report: ReportRow;
}

interface PublicPages {
  /** The report at a public address, whatever text that is; null where there is none. */
  findReport(uuid: string): Promise<FoundReport | null>;
  /** Tries of a password, by address and report (contract §8). */
  tries: Limit;
  address(c: AppContext): string;
  /** Whether TLS ends here. */
  tls: boolean;
}

const PATH = "/public/reports";

/** A password fits many times. */
const FORM_BYTES = 4096;

/** The pages under `/public/reports`, for readers who have an address and no key (contract §8). */
export function publicPageRoutes(pages: PublicPages): RawRoute[] {
  const serve =
    (answer: (c: AppContext, found: FoundReport) => PageAnswer | Promise<PageAnswer>) =>
    async (c: AppContext): Promise<Response> => {
      const found = await pages.findReport(c.req.param("uuid") ?? "");
      c.set("tenant", found?.tenant);
      return send(found === null ? missing(c) : await answer(c, found), pages.tls);
    };
  return [
    {
      method: "GET",
      path: `${PATH}/{uuid}`,
      handle: serve((c, found) => shown(c, found, pages)),
    },
    {
      method: "POST",
      path: `${PATH}/{uuid}`,
      handle: serve((c, found) => tried(c, found, pages)),
    },
    {
      method: "GET",
      path: `${PATH}/{uuid}/feed.xml`,
      handle: serve((c, found) => followed(c, found, pages)),
    },
    // The page's links are relative to its address without a slash.
    { method: "GET", path: `${PATH}/{uuid}/`, handle: (c) => send(missing(c), pages.tls) },
  ];
}

function send(answer: PageAnswer, tls: boolean): Response {
  // What opens it is no scheme that a browser knows and would ask a name for.
  if (answer.status === 401) answer.headers["WWW-Authenticate"] = "Cookie";
  return sendPage(answer, tls);
}

function shown(c: AppContext, { tenant, report }: FoundReport, pages: PublicPages): PageAnswer {
  if (!isOpen(c, { tenant, report }, pages)) {
    return wantsJson(c) ? passwordNeeded() : gatePage("asked");
  }
  const gated = report.passwordHash !== null;
  const view = publicReport(tenant.store, report);
  if (wantsJson(c)) return reportJson(view, gated);
  const refresh = c.req.query("refresh") !== "off";
  return reportPage({ report: view, now: unixSeconds(tenant.clock), gated, refresh });
}

function followed(c: AppContext, { tenant, report }: FoundReport, pages: PublicPages): PageAnswer {
  if (!isOpen(c, { tenant, report }, pages)) return passwordNeeded();
  const origin = tenant.publicUrl || new URL(c.req.url).origin;
  return reportFeed({
    report: publicReport(tenant.store, report),
    pageUrl: `${origin}${PATH}/${report.publicUuid}`,
    gated: report.passwordHash !== null,
  });
}

/** The form of the gate comes back: the limit first, because checking a password is dear. */
async function tried(c: AppContext, found: FoundReport, pages: PublicPages): Promise<PageAnswer> {
  const { tenant, report } = found;
  const gate = gateOf(report);
  const place = placeOf(found, pages);
  if (gate === null) return back(place.path);
  try {
    c.set("rateHeaders", pages.tries.spend(`${pages.address(c)} ${report.id}`));
    const form = new URLSearchParams(decodeText(await readBytes(c.req.raw, FORM_BYTES)));
    if (!(await tenant.passwords.verify(form.get("password") ?? "", report.passwordHash))) {
      return wantsJson(c) ? passwordNeeded() : gatePage("wrong");
    }
  } catch (error) {
    return tooMany(c, error);
  }
  const key = ensureGateKey(tenant.store, tenant.sealer);
  return back(place.path, gateCookie(gate, { key, now: unixSeconds(tenant.clock) }, place));
}

/** Too many tries, or too many passwords under way: the form says how long to wait. */
function tooMany(c: AppContext, error: unknown): PageAnswer {
  if (!(error instanceof ServiceError) || error.status !== 429) throw error;
  if (error instanceof RateLimited) c.set("rateHeaders", error.headers);
  const waitSeconds = error.retryAfter ?? 1;
  if (!wantsJson(c)) return gatePage({ waitSeconds });
  const answer = refusal(error.code, error.message);
  return { ...answer, headers: { ...answer.headers, "Retry-After": String(waitSeconds) } };
}

function isOpen(c: AppContext, found: FoundReport, pages: PublicPages): boolean {
  const { tenant, report } = found;
  const gate = gateOf(report);
  if (gate === null) return true;
  const key = gateKey(tenant.store, tenant.sealer);
  if (key === null) return false;
  const now = unixSeconds(tenant.clock);
  const { secure } = placeOf(found, pages);
  return opensGate(c.req.header("cookie"), gate, { key, now, secure });
}

/** The page as its readers' browsers see it: behind a proxy, the public URL says where that is. */
function placeOf({ tenant, report }: FoundReport, { tls }: PublicPages) {
  const base = tenant.publicUrl === "" ? "" : new URL(tenant.publicUrl).pathname.replace(/\/$/, "");
  return {
    path: `${base}${PATH}/${report.publicUuid}`,
    secure: tls || tenant.publicUrl.startsWith("https:"),
  };
}

function back(path: string, cookie?: string): PageAnswer {
  const headers: Record<string, string> = publicHeaders("text/html; charset=utf-8", "no-store");
  headers["Location"] = path;
  if (cookie !== undefined) headers["Set-Cookie"] = cookie;
  return { status: 303, headers, body: "" };
}

/** One answer, byte for byte, for an address that never was, was rotated, or is deleted. */
function missing(c: AppContext): PageAnswer {
  return wantsJson(c) ? refusal("not_found", "There is no such report.") : notFoundPage();
}

function passwordNeeded(): PageAnswer {
  return refusal("password_required", "This report needs its password.");
}

/** An error in the interface's shape, without a request id: all of a kind are the same bytes. */
function refusal(code: ErrorCode, message: string): PageAnswer {
  return {
    status: errorStatus[code] as PageAnswer["status"],
    headers: publicHeaders("application/json", "no-store"),
    body: JSON.stringify({ error: { code, message } }),
  };
}

function wantsJson(c: AppContext): boolean {
  return prefersJson(c.req.header("accept"));
}
