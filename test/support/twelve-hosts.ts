import assert from "node:assert/strict";
import type { AlertDetail } from "../../src/core/alerts/detail.ts";
import type { GroupAnswer } from "../../src/core/alerts/group-facts.ts";
import type { OfferedSilence } from "../../src/core/alerts/narrowest.ts";
import type { SilencePreview } from "../../src/core/alerts/silencing.ts";
import type { TestBox } from "./box.ts";

type Alert = AlertDetail["alert"];

/** Twelve hosts of two services, as Prometheus and Alertmanager tell of them. */

export const HOSTS: readonly { host: string; service: string }[] = ["web", "db"].flatMap((kind) =>
  Array.from({ length: 6 }, (_, i) => ({
    host: `${kind}${i + 1}`,
    service: kind === "web" ? "checkout" : "billing",
  })),
);

export const HOST_DOWN = {
  alert: "HostDown",
  labels: { severity: "critical" },
  annotations: { summary: "{{ $labels.host }} is down", description: "It doesn't answer." },
};

/** The body in which Alertmanager 0.27 sends a group of all of them. */
function webhookOf(what: "down" | "up", { startsAt, now }: { startsAt: string; now: string }) {
  const status = what === "down" ? "firing" : "resolved";
  const common = { alertname: HOST_DOWN.alert, ...HOST_DOWN.labels, job: "hosts" };
  const alerts = HOSTS.map((labels, i) => ({
    status,
    labels: { ...common, ...labels, instance: `${labels.host}:9100` },
    annotations: {
      ...HOST_DOWN.annotations,
      summary: HOST_DOWN.annotations.summary.replace("{{ $labels.host }}", labels.host),
    },
    startsAt,
    endsAt: what === "down" ? "0001-01-01T00:00:00Z" : now,
    generatorURL: "http://prometheus.example:9090/graph?g0.expr=host_up+%3D%3D+0",
    fingerprint: `f${i}`,
  }));
  return {
    version: "4",
    groupKey: "{}:{}",
    status,
    receiver: "box",
    alerts,
    commonLabels: common,
    externalURL: "http://alertmanager.example:9093",
  };
}

/** Makes the project, its rule and source; what sends that body to the box. */
export async function hostsOf(box: TestBox): Promise<(what: "down" | "up") => Promise<void>> {
  const made = async (path: string, body: object) => {
    const answer = await box.api("POST", path, body);
    assert.equal(answer.status, 201);
    return answer.body;
  };
  await made("/v1/projects", { name: "fleet" });
  await made("/v1/projects/fleet/rules", { name: "any" });
  const source = { name: "it", kind: "alertmanager" };
  const { token } = await made("/v1/projects/fleet/sources", source);
  const at = () => new Date(box.clock.now()).toISOString();
  const startsAt = at();
  return async (what) => {
    const answer = await fetch(`${box.url}/v1/in/alertmanager`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(webhookOf(what, { startsAt, now: at() })),
    });
    assert.equal(answer.status, 200);
  };
}

export interface TwelveHosts {
  /** The answer's body; throws where it isn't 2xx. */
  call(method: string, path: string, body?: object): Promise<unknown>;
  /** All of them go down, or come back. */
  go(what: "down" | "up"): Promise<void>;
  /** Waits for it. */
  comes(what: string, look: () => Promise<unknown>): Promise<unknown>;
  now(): number;
}

/** Of project `fleet`, whose rule `any` takes all: each host is seen, one is silenced by its label, two at once, all are taken as a group and end. */
export async function twelveHosts({ call, go, comes, now }: TwelveHosts): Promise<void> {
  const list = async (more = "") => {
    const { alerts } = (await call("GET", `/v1/alerts?project=fleet${more}`)) as {
      alerts: Alert[];
    };
    return alerts;
  };
  const open = (more = "") => list(`&state=open${more}`);
  const group = async () => {
    const from = "/v1/alerts?project=fleet&order=need&group=rule";
    const { groups } = (await call("GET", from)) as { groups: GroupAnswer[] };
    return groups;
  };
  await go("down");
  await comes("twelve alerts", async () => (await open()).length === 12);
  const seen = await open();
  assert.deepEqual(
    seen.map(({ title, labels }) => [title, labels["service"]]).sort(),
    HOSTS.map(({ host, service }) => [`${host} is down`, service]).sort(),
  );
  for (const { title, labels, apart, details } of seen) {
    const { host = "" } = labels;
    assert.equal(title, `${host} is down`);
    assert.ok(
      apart.some(({ name, value }) => name === "host" && value === host),
      title,
    );
    assert.match(details ?? "", /It doesn't answer\./);
  }
  const idsOf = (alerts: Alert[]) => alerts.map(({ id }) => id).sort();
  const billing = seen.filter(({ labels }) => labels["service"] === "billing");
  assert.equal(billing.length, 6);
  assert.deepEqual(
    idsOf(await open(`&q=${encodeURIComponent("label:service=billing")}`)),
    idsOf(billing),
  );

  const db3 = seen.find(({ labels }) => labels["host"] === "db3") ?? assert.fail();
  const offer = (await call("GET", `/v1/alerts/${db3.id}/silence`)) as OfferedSilence;
  assert.deepEqual(offer.also, [], "the narrowest takes no other host");
  const silence = {
    project: "fleet",
    labels: [{ key: "host", op: "eq", value: "db3" }],
    critical: true,
    ends_at: now() + 3600,
    reason: "its disk is changed",
  };
  const { named } = (await call("POST", "/v1/silences/preview", silence)) as {
    named: { title: string }[];
  };
  assert.deepEqual(named, [{ id: db3.id, title: "db3 is down" }]);
  await call("POST", "/v1/silences", silence);
  assert.deepEqual(idsOf(await open("&silenced=true")), [db3.id]);

  const two = seen.filter(({ labels }) => ["db1", "db2"].includes(labels["host"] ?? ""));
  const ids = idsOf(two);
  const beside = (await call("POST", "/v1/alerts/bulk/preview", { ids })) as SilencePreview;
  assert.deepEqual([beside.open, beside.past.alerts], [0, 0]);
  const quiet = { ids, verb: "silence", until: now() + 3600, reason: "they share a switch" };
  await call("POST", "/v1/alerts/bulk", quiet);
  assert.deepEqual(idsOf(await open("&silenced=true")), [...ids, db3.id].sort());

  const [all, ...others] = await group();
  assert.deepEqual(others, []);
  assert.deepEqual([all?.rule, all?.count, all?.states.silenced], ["any", 12, 3]);
  assert.equal(all?.labels?.["alertname"], "HostDown");
  assert.equal(all?.labels?.["host"], undefined);
  assert.match(all?.titles[0]?.title ?? "", /^(web|db)\d is down$/);

  const where = { project: "fleet", rule: "any", state: "open" };
  const taken = (await call("POST", "/v1/alerts/bulk", { where, verb: "ack" })) as {
    counts: { changed: number };
  };
  assert.equal(taken.counts.changed, 12);
  assert.equal((await group())[0]?.states.acknowledged, 12);
  await go("up");
  await comes("all are over", async () => (await list("&state=resolved")).length === 12);
}
