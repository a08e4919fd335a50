import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { eventValues } from "./events.ts";
import { cpuSeconds } from "./harness.ts";

/** Debian's Alertmanager with nobody to notify: it takes alerts into memory and answers. */
export async function startAlertmanager() {
  const directory = mkdtempSync(join(tmpdir(), "box-bench-am-"));
  const config = join(directory, "alertmanager.yml");
  writeFileSync(config, "route:\n  receiver: none\n  group_wait: 1h\nreceivers:\n  - name: none\n");
  const port = await freePort();
  const child = spawn(
    "prometheus-alertmanager",
    [
      `--config.file=${config}`,
      `--storage.path=${directory}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--cluster.listen-address=",
      "--log.level=error",
    ],
    { stdio: "ignore" },
  );
  const url = `http://127.0.0.1:${port}/api/v2/alerts`;
  for (let tries = 0; tries < 100; tries++) {
    if ((await fetch(url).catch(() => null))?.ok) break;
    await pause(50);
  }
  // The same facts as the box is told.
  const bodies = eventValues().map(({ message, level, keys, tags }) =>
    JSON.stringify([
      {
        labels: { alertname: "login", ...keys, severity: String(level), tags: tags.join() },
        annotations: { message },
      },
    ]),
  );
  return {
    name: "alertmanager",
    url,
    headers: { "Content-Type": "application/json" },
    bodies,
    each: 1,
    cpu: () => cpuSeconds(child.pid ?? 0),
    async stop() {
      const ended = new Promise((done) => child.once("exit", done));
      child.kill();
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
