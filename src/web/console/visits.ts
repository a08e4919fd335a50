import { html } from "../../ground/kit/html.ts";
import { brand } from "../../ground/page/drawings.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import type { Limit } from "../http/limits.ts";
import { goTo, sendHtml } from "./answer.ts";
import { type PageRequest, readForm } from "./page-request.ts";
import { document, type Files } from "./shell.ts";
import { isOfOwnUser } from "./signin/own-user.ts";
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
