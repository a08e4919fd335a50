import { setTimeout as pause } from "node:timers/promises";
import { arrivals } from "./arrivals.ts";
import { percentile, type Scenario, start } from "./harness.ts";

export const webhook: Scenario = {
  name: "webhook",
  about: "from an event that opens an alert to the first byte of its webhook, 20 alerts a second",
  async run(quick) {
    const arrived = new Map<string, number>();
    const receiver = await arrivals<{ identifiers: { n: string } }>((event, _path, at) =>
      arrived.set(event.identifiers.n, at),
    );
    const server = await start(process.execPath, ["bench/box-server.ts", "0"]);
    const [url, token, key] = server.line.split(" ");
    const api = (path: string, body: unknown) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      });
    await api("/v1/projects/bench/webhooks", {
      url: `${receiver.url}/`,
    });
    await api("/v1/projects/bench/rules", { name: "each", identifier_keys: ["n"], max_open: 0 });
    const sent = new Map<string, number>();
    const total = quick ? 60 : 400;
    for (let i = 0; i < total; i++) {
      sent.set(String(i), performance.now());
      await fetch(`${url}/v1/ingest`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({ message: "one more thing went wrong", keys: { n: String(i) } }),
      });
      await pause(50);
    }
    for (let tries = 0; arrived.size < total && tries < 200; tries++) await pause(50);
    const delays = [...sent]
      .slice(20)
      .map(([n, at]) => (arrived.get(n) ?? Number.POSITIVE_INFINITY) - at);
    await server.stop();
    receiver.close();
    return [
      { what: "alert to webhook, p50", unit: "ms", value: percentile(delays, 50) },
      {
        what: "alert to webhook, p99",
        unit: "ms",
        value: percentile(delays, 99),
        must: 50,
        aim: 15,
        lower: true,
      },
    ];
  },
};
