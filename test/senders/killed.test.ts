import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { samples } from "../in/adapters/samples.ts";
import { boxProcess } from "../support/box-process.ts";
import { program } from "../support/program.ts";

/** What opens an alert, by kind, and the name that the alert has then. */
const firings: Readonly<Record<string, string>> = {
  alertmanager: "56303bf2b20108de",
  grafana: "56303bf2b20108de",
  pagerduty: "backup/nas-02",
  opsgenie: "disk/db-01",
  oncall: "7c0b4d7e",
  victorops: "disk/db-01",
};

const box = boxProcess(await program());
before(() => box.start());
after(() => box.discard());

describe("killed right after it has answered a sender", () => {
  for (const [kind, name] of Object.entries(firings)) {
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
      const names = (alerts as { dedup_key: string }[]).map(({ dedup_key }) => dedup_key);
      assert.ok(names.includes(name), names.join());
    });
  }
});
