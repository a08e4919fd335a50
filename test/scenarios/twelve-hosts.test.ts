import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { HOST_DOWN, HOSTS, twelveHosts } from "../support/twelve-hosts.ts";
import { settle } from "../support/until.ts";

test("twelve hosts of two services, as Alertmanager's webhook tells of them: each is seen, one silenced, the rest taken", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const call = async (method: string, path: string, body?: object) => {
    const answer = await box.api(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body as Record<string, unknown>;
  };
  await call("POST", "/v1/projects", { name: "fleet" });
  await call("POST", "/v1/projects/fleet/rules", { name: "any" });
  const source = { name: "it", kind: "alertmanager" };
  const { token } = await call("POST", "/v1/projects/fleet/sources", source);
  const startsAt = new Date(box.clock.now()).toISOString();
  /** As Alertmanager 0.27 sends a group of all of them. */
  const go = async (what: "down" | "up") => {
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
      endsAt: what === "down" ? "0001-01-01T00:00:00Z" : new Date(box.clock.now()).toISOString(),
      generatorURL: "http://prometheus.example:9090/graph?g0.expr=host_up+%3D%3D+0",
      fingerprint: `f${i}`,
    }));
    const group = { version: "4", groupKey: "{}:{}", status, receiver: "box", alerts };
    const body = {
      ...group,
      commonLabels: common,
      externalURL: "http://alertmanager.example:9093",
    };
    const answer = await fetch(`${box.url}/v1/in/alertmanager`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 200);
  };
  await twelveHosts({
    call,
    go,
    comes: async (what, look) => {
      await settle(box);
      assert.ok(await look(), what);
    },
    now: () => Math.floor(box.clock.now() / 1000),
  });
});
