import { setTimeout as pause } from "node:timers/promises";
import { arrivals } from "./arrivals.ts";
import { events } from "./events.ts";
import {
  fromRounds,
  percentile,
  type Row,
  type Scenario,
  start,
  withDirectory,
} from "./harness.ts";
import { closedLoop } from "./load.ts";

/** So many that nobody is paged twice within the time that a contact rests. */
const PEOPLE = 120;
const EVERY_MS = 50;

export const contacts: Scenario = {
  name: "contacts",
  about:
    "from an event that opens an alert to the first byte at a person's own contact, beside the webhook of the same alert; ingest with 50 people's contacts beside none",
  async run(quick) {
    return [...(await ways(quick ? 180 : 600)), ...(await cost(quick))];
  },
};

/** An event of a webhook, or a page that names several. */
interface Arrived {
  event?: string;
  identifiers?: { n: string };
  alerts?: { identifiers: { n: string } }[];
}

/** When each alert's number first came in at the webhook, and at a contact. */
async function ways(total: number): Promise<Row[]> {
  const hooks = new Map<string, number>();
  const pages = new Map<string, number>();
  const receiver = await arrivals<Arrived>((body, path, at) => {
    const { identifiers, event } = body;
    if (path === "/hook" && event === "alert.opened") hooks.set(identifiers?.n ?? "", at);
    for (const one of body.alerts ?? []) pages.set(one.identifiers.n, at);
  });
  const server = await start(process.execPath, [
    "bench/people-server.ts",
    String(PEOPLE),
    receiver.url,
  ]);
  const [url, token, key] = server.line.split(" ");
  await fetch(`${url}/v1/projects/bench/webhooks`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ url: `${receiver.url}/hook` }),
  });
  const sent = new Map<string, number>();
  for (let i = 0; i < total; i++) {
    const keys = { n: String(i), who: String(i % PEOPLE) };
    sent.set(keys.n, performance.now());
    await fetch(`${url}/v1/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ message: "one more thing went wrong", level: 400, keys }),
    });
    await pause(EVERY_MS);
  }
  for (let tries = 0; pages.size < total && tries < 400; tries++) await pause(50);
  await server.stop();
  receiver.close();
  const delays = (of: Map<string, number>) =>
    [...sent].slice(20).map(([n, at]) => (of.get(n) ?? Number.POSITIVE_INFINITY) - at);
  const [hook, page] = [delays(hooks), delays(pages)];
  const p99 = percentile(page, 99);
  return [
    { what: "alert to webhook, p99", unit: "ms", value: percentile(hook, 99) },
    { what: "alert to contact, p50", unit: "ms", value: percentile(page, 50) },
    { what: "alert to contact, p99", unit: "ms", value: p99 },
    {
      what: "contact / webhook, p99",
      unit: "ratio",
      value: p99 / percentile(hook, 99),
      must: 1.5,
      lower: true,
    },
  ];
}

/** Events taken in a second, of 50 people with contacts beside 50 without, whose rules are the same. */
async function cost(quick: boolean): Promise<Row[]> {
  const ratios: number[] = [];
  for (let round = 0; round < (quick ? 1 : 5); round++) {
    const rates: number[] = [];
    for (const args of [
      ["bench/people-server.ts", "50", "none"],
      ["bench/people-server.ts", "50", "http://127.0.0.1:9"],
    ]) {
      const server = await start(process.execPath, args);
      const [url = "", token] = server.line.split(" ");
      const load = { url: `${url}/v1/ingest`, headers: { Authorization: `Bearer ${token}` } };
      const { rate } = await withDirectory((directory) =>
        closedLoop({
          ...load,
          bodies: events(),
          directory,
          connections: 64,
          seconds: quick ? 2 : 5,
        }),
      );
      rates.push(rate);
      await server.stop();
    }
    const [alone = 1, beside = 0] = rates;
    ratios.push(beside / alone);
  }
  return [fromRounds("ingest with 50 people's contacts / without", "ratio", ratios)];
}
