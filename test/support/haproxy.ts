import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "./free-port.ts";

const SAMPLE = join(import.meta.dirname, "../../systemd/haproxy.cfg");

/** HAProxy by the sample file that comes with the package, before two nodes of this machine. */
export async function startHaproxy(
  ports: readonly [number, number],
): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const places: [from: string | RegExp, to: string][] = [
    ["10.0.0.11:8090", `127.0.0.1:${ports[0]}`],
    ["10.0.0.12:8090", `127.0.0.1:${ports[1]}`],
    [/bind :443 ssl .*/g, `bind 127.0.0.1:${port}`],
    ["maxconn 8000", "maxconn 200"],
    // It is whoever runs this, and there is no log to write to.
    [/^ +(?:user|group|log) .*\n/gm, ""],
  ];
  const text = places.reduce(
    (all, [from, to]) => all.replaceAll(from, to),
    readFileSync(SAMPLE, "utf8"),
  );
  const root = mkdtempSync(join(tmpdir(), "box-haproxy-"));
  const file = join(root, "haproxy.cfg");
  writeFileSync(file, text);
  const path = `${process.env["PATH"]}:/usr/sbin`;
  const child = spawn("haproxy", ["-db", "-f", file], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: path },
  });
  let said = "";
  child.stderr.on("data", (data) => {
    said += data;
  });
  const gone = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(`${url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error(`haproxy ended: ${said}`);
    await pause(50);
  }
  return {
    url,
    async stop() {
      child.kill("SIGKILL");
      await gone;
      rmSync(root, { recursive: true, force: true });
    },
  };
}
