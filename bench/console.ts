import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { testBox } from "../test/support/box.ts";
import { signedIn } from "../test/support/console.ts";
import { settle } from "../test/support/until.ts";
import { fromRounds, median, percentile, type Row, type Scenario } from "./harness.ts";

/** So many alerts are open, and so many are over. A page shows fifty rows. */
const ALERTS = 10_000;

/**
 * What one request takes of the server: from its head until its answer is written, in milliseconds and in those of the main
 * thread's processor time. The browser's part, which runs in this process too, isn't in it.
 */
function requestTimes() {
  const began = { at: 0, cpu: 0 };
  const latest = { ms: 0, cpu: 0 };
  const cpu = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const start = () => Object.assign(began, { at: performance.now(), cpu: cpu() });
  const end = () =>
    Object.assign(latest, { ms: performance.now() - began.at, cpu: cpu() - began.cpu });
  subscribe("http.server.request.start", start);
  subscribe("http.server.response.finish", end);
  return {
    latest,
    stop() {
      unsubscribe("http.server.request.start", start);
      unsubscribe("http.server.response.finish", end);
    },
  };
}

/** What a page costs the box: asked one after another by one browser, drawn and packed each time. */
export const consolePages: Scenario = {
  name: "console",
  about: `the list and one alert of ${ALERTS.toLocaleString("en")} in a browser, beside an empty page of the same server`,
  async run(quick) {
    const box = await testBox();
    const request = requestTimes();
    try {
      const token = await box.project("shop", { retain_logs: true });
      const step = (after_minutes: number) => ({
        after_minutes,
        accounts: [box.owner.accountId],
        schedules: [],
        repeat_minutes: 5,
      });
      const escalations = [step(0), step(10), step(30)];
      for (let n = 0; n < 20; n++)
        await box.api("POST", "/v1/projects/shop/rules", {
          name: `rule ${n}`,
          identifier_keys: ["n"],
          max_open: 0,
          escalations,
          conditions: [{ key: "rule", op: "eq", value: String(n) }],
        });
      const send = async (from: number, count: number) => {
        const lines = Array.from({ length: count }, (_, i) =>
          JSON.stringify({
            message: `payment ${from + i} failed after 30 s at provider acme`,
            level: 300 + 100 * (i % 3),
            keys: { n: String(from + i), rule: String((from + i) % 20) },
          }),
        );
        const sent = await fetch(`${box.url}/v1/ingest`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
          body: lines.join("\n"),
        });
        if (sent.status !== 202) throw new Error(await sent.text());
        await settle(box);
      };
      for (let at = 0; at < 2 * ALERTS; at += 500) {
        await send(at, 500);
        if (at >= ALERTS) continue;
        const all = { where: { project: "shop" }, verb: "resolve" };
        await box.api("POST", "/v1/alerts/bulk", all);
        await settle(box);
      }
      const tab = signedIn(box);
      const count = box.tenant.store
        .sql("SELECT count(*) FROM alerts WHERE state = 'open'")
        .pluck()
        .get();
      if (count !== ALERTS) throw new Error(`${count} alerts are open`);
      const rows: Row[] = [];
      const rounds = quick ? 200 : 400;
      const took = async (
        path: string,
        more: Partial<Row>,
        { event = false } = {},
      ): Promise<void> => {
        const times: number[] = [];
        const cpus: number[] = [];
        let size = 0;
        for (let i = 0; i < rounds + 30; i++) {
          if (event) await send(ALERTS, 1);
          const { status, headers, text } = await tab.get(path);
          if (status !== 200) throw new Error(`${path}: ${status}`);
          if (i < 30) continue;
          times.push(request.latest.ms);
          cpus.push(request.latest.cpu);
          size = text.length + Number(headers.get("content-length") ?? 0);
        }
        const spread = { low: median(times), high: Math.max(...times) };
        rows.push({
          what: `${path}${event ? " after an event" : ""}, server time p95`,
          unit: "ms",
          value: percentile(times, 95),
          ...spread,
          ...more,
        });
        rows.push(
          fromRounds(`${path}${event ? " after an event" : ""}, processor time`, "ms", cpus),
        );
        rows.push({ what: `${path}, characters`, unit: "", value: size });
      };
      const must = { must: 8, lower: true };
      await took("/search", {});
      await took("/alerts", must);
      await took("/alerts", {}, { event: true });
      await took("/alerts?state=resolved", must);
      await took(`/a/${ALERTS + 5000}`, must);
      return rows;
    } finally {
      request.stop();
      await box.stop();
    }
  },
};
