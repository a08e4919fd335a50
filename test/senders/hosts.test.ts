import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { findAdapter } from "../../src/in/adapters/list.ts";
import { without } from "../faults/tools.ts";
import { boxProcess } from "../support/box-process.ts";
import { program } from "../support/program.ts";
import { scratch } from "../support/scratch.ts";
import { HOST_DOWN, HOSTS, twelveHosts } from "../support/twelve-hosts.ts";
import { startAlertmanager, startPrometheus } from "./programs.ts";
import { until } from "./story.ts";

test("twelve hosts of two services by Prometheus and Alertmanager: each is seen, one silenced by its label, the rest taken as a group", {
  skip: without("prometheus", "prometheus-alertmanager"),
}, async (t) => {
  let isUp = 1;
  const metrics = createServer((_, answer) => {
    const lines = HOSTS.map(
      ({ host, service }) => `host_up{host="${host}",service="${service}"} ${isUp}\n`,
    );
    answer.writeHead(200, { "content-type": "text/plain" }).end(lines.join(""));
  });
  await new Promise<void>((listening) => metrics.listen(0, "127.0.0.1", listening));
  t.after(() => {
    metrics.closeAllConnections();
    metrics.close();
  });
  const box = boxProcess(await program());
  t.after(() => box.discard());
  await box.start();
  await box.api.need("POST", "/v1/projects", { name: "fleet" });
  await box.api.need("POST", "/v1/projects/fleet/rules", { name: "any" });
  const source = { name: "it", kind: "alertmanager" };
  const made = await box.api.need("POST", "/v1/projects/fleet/sources", source);
  const tokens = { token: String(made["token"]), shortToken: String(made["short_token"]) };
  const { receivers } = parse(
    findAdapter("alertmanager")?.setUp({ base: box.url, ...tokens }).paste ?? "",
  );
  const folder = scratch(t);
  const of = { folder: join(folder, "am"), receivers, interval: "1s" };
  const { address, ...alertmanager } = await startAlertmanager(t, of);
  const prometheus = await startPrometheus(t, {
    folder: join(folder, "prom"),
    alerting: { alerting: { alertmanagers: [{ static_configs: [{ targets: [address] }] }] } },
    interval: "1s",
    metrics: `http://127.0.0.1:${(metrics.address() as AddressInfo).port}`,
    rule: { ...HOST_DOWN, expr: "host_up == 0" },
  });
  t.after(() => {
    if (!t.passed) t.diagnostic(`${prometheus.said()}\n${alertmanager.said()}`);
  });
  await twelveHosts({
    call: box.api.need,
    go: async (what) => {
      isUp = what === "up" ? 1 : 0;
    },
    comes: (what, look) => until(what, 60_000, look),
    now: () => Math.floor(Date.now() / 1000),
  });
});
