import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { parse } from "yaml";
import { findAdapter } from "../../src/in/adapters/list.ts";
import { boxProcess } from "../support/box-process.ts";
import { program } from "../support/program.ts";
import { scratch } from "../support/scratch.ts";
import { startForwarder } from "./forwarder.ts";
import { startAlertmanager, startPrometheus } from "./programs.ts";

/** Waits for what other programs bring about. */
export async function until<T>(
  what: string,
  patienceMs: number,
  look: () => T | Promise<T>,
): Promise<NonNullable<T>> {
  const start = performance.now();
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() - start > patienceMs) throw new Error(`still not so: ${what}`);
    await pause(50);
  }
}

interface Seen {
  state: string;
  title: string;
  labels: Record<string, string>;
  count: number;
  level: number;
  last_message: string;
}

/** How fast the senders go, and for how long nobody is there. */
export interface Pace {
  /** Prometheus' resend delay, and Alertmanager's group and repeat interval: `1s`. */
  interval: string;
  downMs: number;
  /** For what comes with the next interval. */
  patienceMs: number;
}

/**
 * Prometheus straight to the box, and by way of Alertmanager through each of its receivers that the box understands,
 * set up with the adapters' own text: fires, repeats; the box is killed at an answer, is away, comes back; ends.
 */
export async function senderStory(t: TestContext, { interval, downMs, patienceMs }: Pace) {
  const comes = <T>(what: string, look: () => T | Promise<T>) => until(what, patienceMs, look);
  const disks: Record<string, number> = { a: 0, b: 0 };
  const metrics = createServer((_, answer) => {
    const lines = Object.entries(disks).map(([disk, full]) => `disk_full{disk="${disk}"} ${full}`);
    answer.writeHead(200, { "content-type": "text/plain" }).end(`${lines.join("\n")}\n`);
  });
  await new Promise<void>((listening) => metrics.listen(0, "127.0.0.1", listening));
  t.after(() => {
    metrics.closeAllConnections();
    metrics.close();
  });
  const box = boxProcess(await program());
  t.after(() => box.discard());
  const way = await startForwarder();
  t.after(() => way.close());
  await box.start();

  /** A project with a source of the kind; what its set-up text says. */
  const connect = async (kind: string) => {
    await box.api.need("POST", "/v1/projects", { name: kind });
    await box.api.need("POST", `/v1/projects/${kind}/rules`, { name: "any" });
    const made = await box.api.need("POST", `/v1/projects/${kind}/sources`, { name: "it", kind });
    const tokens = { token: String(made["token"]), shortToken: String(made["short_token"]) };
    return parse(findAdapter(kind)?.setUp({ base: way.url, ...tokens }).paste ?? "");
  };
  const straight = await connect("prometheus");
  const { receivers } = await connect("alertmanager");
  // Through these Alertmanager tells of a whole group at once: one alert, for as long as any of it fires.
  const groupwise = ["pagerduty", "opsgenie", "victorops"];
  for (const kind of groupwise)
    receivers.push({ ...(await connect(kind)).receivers[0], name: `box by ${kind}` });
  const kinds = ["prometheus", "alertmanager"];
  const folder = scratch(t);
  const alertmanager = await startAlertmanager(t, {
    folder: join(folder, "am"),
    receivers,
    interval,
  });
  straight.alerting.alertmanagers.push({ static_configs: [{ targets: [alertmanager.address] }] });
  const prometheus = await startPrometheus(t, {
    folder: join(folder, "prom"),
    alerting: straight,
    interval,
    metrics: `http://127.0.0.1:${(metrics.address() as AddressInfo).port}`,
  });
  t.after(() => {
    if (!t.passed) t.diagnostic(`${prometheus.said()}\n${alertmanager.said()}`);
  });

  /** The project's alert of this disk. */
  const alertOf = async (kind: string, disk: string) => {
    const { alerts } = await box.api.need("GET", `/v1/alerts?project=${kind}`);
    const found = (alerts as Seen[]).filter((one) => one.last_message === `Disk ${disk} is full`);
    assert.ok(found.length <= 1, `${kind} ${disk} has ${found.length} alerts`);
    return found[0];
  };
  /** The project's only alert. */
  const only = async (kind: string) => {
    const { alerts } = await box.api.need("GET", `/v1/alerts?project=${kind}`);
    assert.ok((alerts as Seen[]).length <= 1, kind);
    return (alerts as Seen[])[0];
  };
  const isOpen = async (kind: string, disk: string) =>
    (await alertOf(kind, disk))?.state === "open";
  const isOver = async (kind: string, disk: string) =>
    (await alertOf(kind, disk))?.state === "resolved";
  const reports = (kind: string, disk: string) =>
    way.seen.filter(({ path, body, status }) => {
      const isTheirs = path.startsWith(`/v1/in/${kind}`) && body.includes(`Disk ${disk} is full`);
      return isTheirs && status === 200;
    }).length;

  way.to = box.url;
  disks["a"] = 1;
  for (const kind of kinds) {
    await comes(`${kind} opens a`, () => isOpen(kind, "a"));
    await comes(`${kind} repeats a`, () => reports(kind, "a") >= 3);
    const { count, level, title, labels } = (await alertOf(kind, "a")) as Seen;
    assert.deepEqual([count, level, title], [1, 500, "Disk a is full"], kind);
    assert.deepEqual([labels["disk"], labels["alertname"]], ["a", "DiskFull"], kind);
  }

  for (const kind of groupwise)
    await comes(`${kind} opens`, async () => (await only(kind))?.state === "open");

  // Killed when it has answered, before its sender hears of it.
  const answered = new Promise<string>((resolve) => {
    way.onAnswer = ({ path, body }) => {
      const isOne = kinds.some((kind) => path.startsWith(`/v1/in/${kind}`));
      if (!isOne || !body.includes("Disk b is full")) return;
      way.to = null;
      way.onAnswer = () => {};
      void box.kill().then(() => resolve(path));
    };
  });
  disks["b"] = 1;
  const path = await answered;
  const first = kinds.find((kind) => path.startsWith(`/v1/in/${kind}`));
  disks["a"] = 0;
  for (const kind of kinds)
    await comes(`${kind} finds nobody`, () => way.missed.some((one) => one.path.includes(kind)));
  await pause(downMs);
  await box.start();
  assert.ok(await isOpen(String(first), "b"), `${first}: what was answered is there`);

  way.to = box.url;
  for (const kind of kinds) {
    await comes(`${kind} catches up with b`, () => isOpen(kind, "b"));
    await comes(`${kind} catches up with the end of a`, () => isOver(kind, "a"));
  }
  disks["b"] = 0;
  for (const kind of kinds) {
    await comes(`${kind} ends b`, () => isOver(kind, "b"));
    assert.equal((await alertOf(kind, "b"))?.count, 1, kind);
  }
  for (const kind of groupwise)
    await comes(`${kind} ends`, async () => (await only(kind))?.state === "resolved");
}
