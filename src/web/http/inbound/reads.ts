import { listAlerts } from "../../../core/alerts/list.ts";
import { configVersions } from "../../../core/projects/projects.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { parseToken } from "../../../ground/kit/ids.ts";
import type { SenderReply } from "../../../in/adapters/adapter.ts";
import { jsonReply } from "../../../in/adapters/replies.ts";
import { findActor } from "../../../people/actor.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import type { AppContext } from "../raw-route.ts";
import type { Serving } from "../serve-route.ts";
import { alertView, viewFilter, viewGroups } from "./alert-view.ts";
import { ofAuthorization } from "./token.ts";

/** Whose API these answers imitate; readers choose what they understand by it. */
const LIKE = "0.27.0";
const MOST_ALERTS = 1000;
const STATUS = "/api/v2/status";

type Read = (tenant: Tenant, query: URLSearchParams) => SenderReply;

/** What amtool and karma read of an Alertmanager (contract §23). */
const reads: Readonly<Record<string, Read>> = {
  [STATUS]: (tenant) => status(tenant),
  "/api/v2/receivers": ({ store }) =>
    jsonReply(
      200,
      configVersions(store).map(({ project }) => ({ name: project })),
    ),
  "/api/v2/alerts": (tenant, query) => alerts(tenant, query, (views) => views),
  "/api/v2/alerts/groups": (tenant, query) => alerts(tenant, query, viewGroups),
  "/api/v2/silences": () => jsonReply(200, []),
  "/metrics": () => ({
    status: 200,
    headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
    body: `alertmanager_build_info{version="${LIKE}"} 1\n`,
  }),
};

/** The answer to a read below `/v1/in/prometheus`; null where the path has none. Writes of silences are none yet. */
export async function serveRead(
  c: AppContext,
  { serving, path, source }: { serving: Serving; path: string; source: Tenant | null },
): Promise<SenderReply | null> {
  const isWrite = /^\/api\/v2\/silences?(?:\/|$)/.test(path) && c.req.method !== "GET";
  const read = Object.hasOwn(reads, path) ? reads[path] : undefined;
  if (!isWrite && (read === undefined || (c.req.method !== "GET" && c.req.method !== "HEAD")))
    return null;
  // amtool asks for the status before all else, with whatever token it has.
  const tenant = path === STATUS && source !== null ? source : await keyHolder(c, serving);
  if (tenant === null) {
    c.set("refusedAs", "unauthorized");
    if (path !== STATUS) {
      serving.refusals.auth("api", c.req.header("authorization"));
      c.set("rateHeaders", serving.limits.strangers.spend(serving.address(c)));
    }
    return {
      ...jsonReply(401, "An API key is needed, as Bearer or as password."),
      headers: { "www-authenticate": 'Basic realm="box"' },
    };
  }
  serving.known(c);
  c.set("tenantId", tenant.id);
  if (isWrite || read === undefined)
    return jsonReply(501, "The box takes no silences from here: acknowledge the alert instead.");
  return read(tenant, new URL(c.req.url).searchParams);
}

/** Whose API key came, as Bearer or as the password of Basic. */
async function keyHolder(c: AppContext, serving: Serving): Promise<Tenant | null> {
  const [text = ""] = ofAuthorization(c.req.header("authorization") ?? "");
  const key = parseToken(text);
  if (key?.plane !== "ptk") return null;
  const tenant = await serving.findTenant(key.tenant, text);
  const actor = tenant === null ? null : findActor(tenant.store, text);
  if (tenant === null || actor === null) return null;
  tenant.keyUsed(actor.keyId);
  c.set("rateHeaders", serving.limits.api.spend(actor.keyId));
  return tenant;
}

function status({ clock }: Tenant): SenderReply {
  const uptime = new Date(clock.now() - clock.mono()).toISOString();
  return jsonReply(200, {
    cluster: { peers: [], status: "disabled" },
    config: { original: "route:\n  receiver: box\nreceivers:\n- name: box\n" },
    uptime,
    versionInfo: {
      branch: "box",
      buildDate: "",
      buildUser: "",
      goVersion: "",
      revision: "",
      version: LIKE,
    },
  });
}

type Views = ReturnType<typeof alertView>[];

function alerts(
  { store, clock }: Tenant,
  query: URLSearchParams,
  shape: (views: Views) => unknown,
): SenderReply {
  const filter = viewFilter(query);
  if (typeof filter === "string") return jsonReply(400, filter);
  const at = unixSeconds(clock);
  const views = (["open", "acknowledged"] as const)
    .flatMap((state) => listAlerts(store, { states: [state], limit: MOST_ALERTS }).alerts)
    .map((alert) => alertView(alert, at))
    .filter(filter);
  return jsonReply(200, shape(views));
}
