import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { samples } from "../in/adapters/samples.ts";
import { boxProcess } from "../support/box-process.ts";
import { program } from "../support/program.ts";

/** What opens an alert, by kind: the name that the alert has then, its title, and a label that names what it is about. */
const firings: Readonly<Record<string, readonly [name: string, title: string, label: object]>> = {
  alertmanager: [
    "56303bf2b20108de",
    "Disk db-01:9100 is 96.4% full",
    { alertname: "DiskFull", instance: "db-01:9100" },
  ],
  grafana: ["56303bf2b20108de", "p99 is 4.2 s", { alertname: "High latency" }],
  pagerduty: [
    "backup/nas-02",
    "Backup of nas-02 failed: volume is read-only",
    { source: "nas-02", component: "zfs" },
  ],
  opsgenie: ["disk/db-01", "Disk full", { entity: "db-01", region: "eu" }],
  oncall: ["7c0b4d7e", "Pump 3 stopped", {}],
  victorops: ["disk/db-01", "Disk full", { monitoring_tool: "Icinga" }],
};

interface Seen {
  dedup_key: string;
  title: string;
  labels: Record<string, string>;
}

const box = boxProcess(await program());
before(() => box.start());
after(() => box.discard());

describe("killed right after it has answered a sender", () => {
  for (const [kind, [name, title, label]] of Object.entries(firings)) {
    test(`${kind}: the alert is there`, async () => {
      const project = `/v1/projects/${kind}`;
      await box.api.need("POST", "/v1/projects", { name: kind });
      await box.api.need("POST", `${project}/rules`, { name: "any" });
      const { token } = await box.api.need("POST", `${project}/sources`, { name: "it", kind });
      const [request] = samples[kind] ?? [];
      assert.ok(request);
      const { status } = await fetch(`${box.url}/v1/in/${kind}/${token}${request.path}`, {
        method: "POST",
        body: request.body,
      });
      // The head of the answer is here, and its end may not be.
      await box.kill();
      assert.ok(status === 200 || status === 202, String(status));
      await box.start();
      const { alerts } = await box.api.need("GET", `/v1/alerts?project=${kind}`);
      const found = (alerts as Seen[]).filter(({ dedup_key }) => dedup_key === name);
      assert.deepEqual(
        found.map((one) => one.title),
        [title],
        JSON.stringify(alerts),
      );
      assert.partialDeepStrictEqual(found[0]?.labels, label);
    });
  }
});
