import { readFileSync } from "node:fs";
import { events } from "./events.ts";
import { cpuSeconds, fromRounds, type Row, type Scenario, start } from "./harness.ts";
import { openLoop } from "./load.ts";

const ALERTS = 10_000;
/** As many as Prometheus puts into a request. */
const EACH = 256;
/** Between two reports of what fires, by Prometheus' default. */
const MINUTE_MS = 60_000;

/** One request of what Prometheus sends while alerts fire: these, good for four minutes. */
function firing(from: number, startsAt: string): string {
  const endsAt = new Date(Date.now() + 240_000).toISOString();
  const count = Math.min(EACH, ALERTS - from);
  return JSON.stringify(
    Array.from({ length: count }, (_, i) => ({
      labels: { alertname: "PodDown", pod: `pod-${from + i}`, severity: "critical" },
      annotations: { summary: `Pod pod-${from + i} has been down for a while` },
      startsAt,
      endsAt,
      generatorURL: "http://prometheus:9090/graph",
    })),
  );
}

async function firingBox() {
  const server = await start(process.execPath, ["bench/box-server.ts", "0"]);
  const [url = "", token = "", key = ""] = server.line.split(" ");
  const post = async (path: string, body: object) => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return (await answer.json()) as { token: string };
  };
  await post("/v1/projects/bench/rules", {
    name: "pods",
    match: { min_level: 500 },
    max_open: 0,
  });
  const source = { name: "prometheus", kind: "prometheus" };
  const { token: prometheus } = await post("/v1/projects/bench/sources", source);
  const startsAt = new Date().toISOString();
  return {
    url,
    token,
    server,
    /** Reports every alert once, its requests spread evenly over so long. */
    async report(ms: number) {
      const begin = performance.now();
      for (let from = 0; from < ALERTS; from += EACH) {
        const due = begin + (ms * from) / ALERTS;
        await new Promise((next) => setTimeout(next, Math.max(0, due - performance.now())));
        const answer = await fetch(`${url}/v1/in/prometheus/${prometheus}/api/v2/alerts`, {
          method: "POST",
          body: firing(from, startsAt),
        });
        if (answer.status !== 200) throw new Error(`a report was answered ${answer.status}`);
      }
    },
    /** Bytes that the process has given to the disk. */
    written: () =>
      Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${server.pid}/io`, "utf8"))?.[1]),
  };
}

export const refresh: Scenario = {
  name: "refresh",
  about: `${ALERTS} open alerts that Prometheus reports again each minute: bytes, time, and other events beside it`,
  async run(quick): Promise<Row[]> {
    const box = await firingBox();
    const load = {
      url: `${box.url}/v1/ingest`,
      headers: { Authorization: `Bearer ${box.token}` },
      bodies: events(),
      connections: 16,
      rate: 300,
      directory: "",
    };
    const bytes: number[] = [];
    const again: number[] = [];
    const cpu: number[] = [];
    const ratios: number[] = [];
    try {
      await box.report(0);
      for (let round = 0; round < (quick ? 1 : 3); round++) {
        await new Promise((next) => setTimeout(next, MINUTE_MS + 1000));
        const [wroteBefore, cpuBefore] = [box.written(), cpuSeconds(box.server.pid)];
        await box.report(0);
        bytes.push((box.written() - wroteBefore) / ALERTS);
        cpu.push(((cpuSeconds(box.server.pid) - cpuBefore) * 1e6) / ALERTS);
        const soonBefore = box.written();
        await box.report(0);
        again.push((box.written() - soonBefore) / ALERTS);
        const alone = await openLoop({ ...load, seconds: 10 });
        const [beside] = await Promise.all([openLoop({ ...load, seconds: 10 }), box.report(9_000)]);
        ratios.push(beside.p99 / alone.p99);
      }
    } finally {
      await box.server.stop();
    }
    return [
      fromRounds("bytes written for each alert reported after a minute", "B", bytes, {
        lower: true,
      }),
      fromRounds("the same within the minute", "B", again, { lower: true }),
      fromRounds("CPU for each alert reported", "µs", cpu, { lower: true }),
      fromRounds(
        "p99 of 300 events/s beside a minute's reports in 9 s / without",
        "ratio",
        ratios,
        {
          lower: true,
        },
      ),
    ];
  },
};
