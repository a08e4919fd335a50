import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { stringify } from "yaml";
import { freePort } from "../support/free-port.ts";

/** A program of the system that runs until the test is over; what it said, for a failure. */
export function startSender(t: TestContext, program: string, args: readonly string[]) {
  const child: ChildProcess = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const hear = (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-8000);
  };
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  t.after(() => void child.kill("SIGKILL"));
  return { said: () => said };
}

const DISK_FULL = {
  alert: "DiskFull",
  expr: "disk_full == 1",
  labels: { severity: "critical" },
  annotations: { summary: "Disk {{ $labels.disk }} is full", description: "Writes stop." },
};

/** Prometheus with one rule; `alerting` is the box's set-up text. */
export async function startPrometheus(
  t: TestContext,
  of: { folder: string; metrics: string; alerting: object; interval: string; rule?: object },
) {
  const { folder, metrics, alerting, interval, rule = DISK_FULL } = of;
  mkdirSync(folder, { recursive: true });
  const [config, rules] = [join(folder, "prometheus.yml"), join(folder, "rules.yml")];
  writeFileSync(rules, stringify({ groups: [{ name: "disks", rules: [rule] }] }));
  const scrape = { job_name: "disks", static_configs: [{ targets: [new URL(metrics).host] }] };
  writeFileSync(
    config,
    stringify({
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [rules],
      scrape_configs: [scrape],
      ...alerting,
    }),
  );
  const address = `127.0.0.1:${await freePort()}`;
  return startSender(t, "prometheus", [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=${address}`,
    `--rules.alert.resend-delay=${interval}`,
  ]);
}

/** Alertmanager that tells each receiver of everything, at once; `receivers` are the box's set-up texts. */
export async function startAlertmanager(
  t: TestContext,
  of: { folder: string; receivers: readonly { name: string }[]; interval: string },
) {
  const { folder, receivers, interval } = of;
  mkdirSync(folder, { recursive: true });
  const config = join(folder, "alertmanager.yml");
  const routes = receivers.map(({ name }) => ({ receiver: name, continue: true }));
  const times = { group_wait: "0s", group_interval: interval, repeat_interval: interval };
  const route = { receiver: receivers[0]?.name, ...times, routes };
  writeFileSync(config, stringify({ route, receivers }));
  const address = `127.0.0.1:${await freePort()}`;
  const running = startSender(t, "prometheus-alertmanager", [
    `--config.file=${config}`,
    `--storage.path=${join(folder, "data")}`,
    `--web.listen-address=${address}`,
    "--cluster.listen-address=",
  ]);
  return { ...running, address };
}
