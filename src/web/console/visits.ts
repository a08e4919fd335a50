import { html } from "../../ground/kit/html.ts";
import { type Ends, isOwnUsers } from "../../ground/kit/peer-user.ts";
import { brand } from "../../ground/page/drawings.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import type { Limit } from "../http/limits.ts";
import type { AppContext } from "../http/raw-route.ts";
import { goTo, sendHtml } from "./answer.ts";
import { FORWARDED, type PageRequest, readForm } from "./page-request.ts";
import { document, type Files } from "./shell.ts";
import type { OpenPage, Visit } from "./visit.ts";

/** Answers a page that needs no session. null: it takes no form. */
export async function answerVisit(
  asking: PageRequest,
  page: OpenPage,
  {
    tenant,
    files,
    address,
    limit,
  }: { tenant: Tenant; files: Files; address: string; limit: Limit },
): Promise<Response | null> {
  const { c, url, look, place, now, asked, cookies: sent } = asking;
  const visit: Visit = {
    tenant,
    look,
    now,
    ...place,
    address,
    cookies: sent,
    path: url.pathname,
    query: url.searchParams,
    agent: (c.req.header("user-agent") ?? "").slice(0, 200),
    isOwnUsers: () => isOfOwnUser(c, tenant),
    tried: () => c.set("rateHeaders", limit.spend(address)),
  };
  if (asking.method === "POST" && page.post === undefined) return null;
  const answer =
    asking.method === "POST" && page.post !== undefined
      ? await page.post(visit, await readForm(c))
      : await page.get(visit);
  const { tls } = asked;
  if ("to" in answer || "away" in answer) {
    const to = "to" in answer ? place.base + answer.to : answer.away;
    return goTo(to, { tls, cookies: answer.cookies ?? [] });
  }
  const { status = 200, title, main, cookies = [], headers = {} } = answer;
  if (answer.refusedAs !== undefined) c.set("refusedAs", answer.refusedAs);
  const body = document(
    {
      title,
      base: place.base,
      look,
      now: Math.floor(tenant.clock.now()),
      files,
      who: "",
      body: "frame alone",
      script: answer.script,
    },
    html`<div class="main"><main id="main" tabindex="-1">
<p class="brand">${brand}</p>
<h1>${title}</h1>
${main}
</main></div>`,
  );
  return sendHtml({ status, body, once: true, cookies, headers }, asked);
}

/** What a proxy adds to a request. */
const OF_PROXIES = [...FORWARDED, "via", "x-real-ip"];
/** Names that no other machine's page can have. */
const HERE: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Whether a browser asks on this machine, as the user who runs the box, with nobody between: somebody who could read its
 * data directory as well.
 */
function isOfOwnUser(c: AppContext, { publicUrl }: { publicUrl: string }): boolean {
  if (publicUrl !== "" || OF_PROXIES.some((name) => c.req.header(name) !== undefined)) return false;
  const { incoming } = c.env as { incoming?: { socket?: Ends } };
  return HERE.has(new URL(c.req.url).hostname) && isOwnUsers(incoming?.socket ?? {});
}
