import type { Alert } from "../../../core/alerts/alert.ts";
import { listAlerts } from "../../../core/alerts/list.ts";
import { configVersions } from "../../../core/projects/projects.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { parseToken, sha256 } from "../../../ground/kit/ids.ts";
import { levelName } from "../../../ground/kit/level.ts";
import type { SenderReply } from "../../../in/adapters/adapter.ts";
import { jsonReply } from "../../../in/adapters/replies.ts";
import { type Actor, findActor } from "../../../people/actor.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import type { AppContext } from "../raw-route.ts";
import type { Serving } from "../serve-route.ts";
import type { Bodies } from "./bodies.ts";
import { type Matcher, parseMatcher, parsePattern } from "./matchers.ts";
import { isOfSilences, serveSilences } from "./silences.ts";
import type { Sender } from "./take.ts";
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
  "/metrics": () => ({
    status: 200,
    headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
    body: `alertmanager_build_info{version="${LIKE}"} 1\n`,
  }),
};

/** The answer to a reader of Alertmanager's API below `/v1/in/prometheus`, its silences included; null where the path has none. */
export async function serveRead(
  c: AppContext,
  {
    serving,
    path,
    sender,
    bodies,
  }: { serving: Serving; path: string; sender: Sender | null; bodies: Bodies },
): Promise<SenderReply | null> {
  const isSilences = isOfSilences(path);
  const read = Object.hasOwn(reads, path) ? reads[path] : undefined;
  if (!isSilences && (read === undefined || (c.req.method !== "GET" && c.req.method !== "HEAD")))
    return null;
  // amtool asks for the status before all else, with whatever token it has.
  const isOfSource = path === STATUS && sender !== null;
  const holder = isOfSource ? null : await keyHolder(c, serving);
  const tenant = isOfSource ? sender.tenant : (holder?.tenant ?? null);
  if (tenant === null || (sender !== null && sender.tenant !== tenant)) {
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
  c.set("tenant", tenant);
  if (isSilences && holder !== null) {
    const of = { ...holder, source: sender?.source ?? null, bodies, address: serving.address(c) };
    return serveSilences(c, path, of);
  }
  return read === undefined ? null : read(tenant, new URL(c.req.url).searchParams);
}

/** Whose API key came, as Bearer or as the password of Basic. */
async function keyHolder(
  c: AppContext,
  serving: Serving,
): Promise<{ tenant: Tenant; actor: Actor } | null> {
  const [text = ""] = ofAuthorization(c.req.header("authorization") ?? "");
  const key = parseToken(text);
  if (key?.plane !== "ptk") return null;
  const tenant = await serving.findTenant(key.tenant, text);
  const actor = tenant === null ? null : findActor(tenant.store, text);
  if (tenant === null || actor === null) return null;
  tenant.keyUsed(actor.keyId);
  c.set("rateHeaders", serving.limits.api.spend(actor.keyId));
  return { tenant, actor };
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

/** An alert in the shape of Alertmanager's API. */
type AlertView = ReturnType<typeof alertView>;

/** Without a promise of its sender an alert is good for as long as Alertmanager thinks of one: five minutes more. */
const GOOD_FOR = 300;

/**
 * Its project is the receiver, and its labels are its sender's. What somebody has acknowledged is shown as held back, by
 * "acknowledged".
 */
function alertView(alert: Alert, at: number) {
  const isTaken = alert.state !== "open";
  const by = alert.silenced_by;
  const inhibitedBy = by?.startsWith("alert:") ? [by.slice("alert:".length)] : [];
  const silencedBy = [
    ...(by === null || inhibitedBy.length > 0 ? [] : [by]),
    ...(isTaken ? ["acknowledged"] : []),
  ];
  const time = (seconds: number) => new Date(seconds * 1000).toISOString();
  return {
    annotations: {
      summary: alert.last_message.slice(0, 1024),
      ...(alert.details ? { description: alert.details.slice(0, 4096) } : {}),
    },
    endsAt: time(alert.expires_at ?? at + GOOD_FOR),
    fingerprint: sha256(alert.id).slice(0, 16),
    receivers: [{ name: alert.project }],
    startsAt: time(alert.first_seen),
    status: {
      inhibitedBy,
      silencedBy,
      state: inhibitedBy.length + silencedBy.length === 0 ? "active" : "suppressed",
    },
    updatedAt: time(alert.last_seen),
    generatorURL: alert.links[0]?.href ?? "",
    labels: {
      alertname: alert.rule,
      severity: levelName(alert.level),
      ...alert.identifiers,
      ...withoutAnnotations(alert.labels),
      project: alert.project,
    },
  };
}

/** Annotations aren't what Alertmanager calls labels. */
const withoutAnnotations = (labels: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => !name.startsWith("annotation.")));

/** What a query asks for, or the sentence that says what of it can't be read. */
function viewFilter(query: URLSearchParams): ((view: AlertView) => boolean) | string {
  const matchers: Matcher[] = [];
  for (const text of query.getAll("filter")) {
    const matcher = parseMatcher(text);
    if (matcher === null) return `bad matcher format: ${text.slice(0, 200)}`;
    matchers.push(matcher);
  }
  const asked = query.get("receiver");
  const isReceiver = asked === null ? () => true : parsePattern(asked);
  if (isReceiver === null) return `failed to parse receiver param: ${asked?.slice(0, 200)}`;
  const wants = (name: string) => query.get(name) !== "false";
  return ({ labels, receivers, status }) =>
    (status.state === "active" ? wants("active") : wants("silenced")) &&
    receivers.some(({ name }) => isReceiver(name)) &&
    matchers.every((matcher) => matcher(labels));
}

/** By project and rule, as one would tell of them together. */
function viewGroups(views: readonly AlertView[]) {
  const groups = Map.groupBy(views, ({ labels }) =>
    JSON.stringify([labels["project"], labels["alertname"]]),
  );
  return [...groups.values()].map((alerts) => ({
    alerts,
    labels: { alertname: alerts[0]?.labels["alertname"] ?? "" },
    receiver: { name: alerts[0]?.labels["project"] ?? "" },
  }));
}
