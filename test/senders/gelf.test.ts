import assert from "node:assert/strict";
import { test } from "node:test";
import gelfPro from "gelf-pro";
import { testBox } from "../support/box.ts";
import { freePort } from "../support/free-port.ts";
import { linesOf } from "../support/kept-lines.ts";
import { until } from "../support/until.ts";

test("gelf-pro by UDP, in chunks too, and by TCP", async () => {
  const bound = `127.0.0.1:${await freePort()}=p/it`;
  const box = await testBox({ gelfUdp: ["127.0.0.1:0=p/it"], gelfTcp: [bound] });
  try {
    await box.api("POST", "/v1/projects", { name: "p" });
    const source = { name: "it", kind: "gelf", retain_logs: true };
    await box.api("POST", "/v1/projects/p/sources", source);
    await box.api("POST", "/v1/projects/p/rules", { name: "any" });
    const titled = async (title: string) =>
      (await box.api("GET", "/v1/alerts")).body.alerts.filter(
        (one: { title: string }) => one.title === title,
      );
    const lines = () => linesOf(box.tenant.store);
    const [udp, tcp] = box.ports;
    // What doesn't repeat can't be made short enough for one datagram.
    const long = Array.from({ length: 4000 }, (_, i) => (i * 7919).toString(36)).join(" ");
    for (const [adapterName, port] of [
      ["udp", udp?.port],
      ["tcp", tcp?.port],
    ] as const) {
      const log = Object.assign(Object.create(gelfPro), {});
      log.setConfig({ adapterName, adapterOptions: { host: "127.0.0.1", port } });
      log.error(`by ${adapterName}`, { order: 17 });
      await until(() => lines().includes(`400 by ${adapterName}`), adapterName);
      const [{ labels }, ...others] = await titled(`by ${adapterName}`);
      assert.deepEqual([labels.order, others], ["17", []]);
      log.warning(`long by ${adapterName} ${long}`);
      await until(
        () =>
          lines().some((line) =>
            line.startsWith(`300 long by ${adapterName} ${long.slice(0, 20)}`),
          ),
        `long by ${adapterName}`,
      );
    }
  } finally {
    await box.stop();
  }
});
