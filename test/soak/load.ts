import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Everything a box is asked for, again and again: events, alerts, readers, changes, strangers. */
export interface Load {
  /** Requests answered, by status; 0 where there was no answer. */
  byStatus: Record<number, number>;
  stop(): Promise<void>;
}

const WORDS = [
  "disk full on",
  "login refused for",
  "no route to",
  "took too long:",
  "out of memory in",
];

/** Starts it; `rate` events a second. */
export async function startLoad(
  box: { port: number; key: string; token: string },
  rate: number,
): Promise<Load> {
  const receiver = await startReceiver();
  const byStatus: Record<number, number> = {};
  const base = `http://127.0.0.1:${box.port}`;
  let isOver = false;

  const call = async (method: string, path: string, body?: unknown, token = box.key) => {
    try {
      const answer = await fetch(base + path, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(body === undefined
          ? {}
          : { body: typeof body === "string" ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
      });
      byStatus[answer.status] = (byStatus[answer.status] ?? 0) + 1;
      const text = await answer.text();
      return text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
    } catch {
      byStatus[0] = (byStatus[0] ?? 0) + 1;
      return {};
    }
  };
  await call("POST", "/v1/projects/p/webhooks", { url: `http://127.0.0.1:${receiver.port}/ok` });
  await call("POST", "/v1/projects/p/webhooks", { url: `http://127.0.0.1:${receiver.port}/flaky` });
  await call("POST", "/v1/projects/p/rules", {
    name: "counted",
    match: { min_level: 400 },
    fire_after: { count: 3, window_minutes: 1 },
    identifier_keys: ["host"],
    auto_resolve_quiet_minutes: 1,
  });

  let n = 0;
  const event = () => ({
    message: `${WORDS[++n % WORDS.length]} host-${n % 97} after ${n} ms`,
    level: n % 10 === 0 ? 400 : 200,
    keys: { host: `host-${n % 23}`, request: `r${n}` },
    tags: ["soak"],
  });
  const tasks: [everyMs: number, run: () => Promise<unknown>][] = [
    [1000 / rate, () => call("POST", "/v1/ingest", event(), box.token)],
    [500, () => call("POST", "/v1/ingest", { message: "x", level: -1 }, box.token)],
    [700, () => call("POST", "/v1/ingest", event(), "pti_0000000000000000_bad")],
    [900, () => call("GET", "/v1/pull?wait=5&cursor=999999999")],
    [1100, () => call("GET", "/v1/projects/p/logtail?limit=200")],
    [1300, () => call("GET", "/v1/alerts?limit=100")],
    [1700, () => endSome(call)],
    [2300, () => comeAndGo(call, ++n)],
    [3100, () => call("GET", "/metrics")],
  ];
  const loops = tasks.map(async ([every, run]) => {
    while (!isOver) {
      const from = performance.now();
      await run();
      const left = every - (performance.now() - from);
      if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
    }
  });
  return {
    byStatus,
    async stop() {
      isOver = true;
      await Promise.all(loops);
      receiver.server.close();
      receiver.server.closeAllConnections();
    },
  };
}

type Call = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

/** Acknowledges and resolves what stands longest. */
async function endSome(call: Call): Promise<void> {
  const { alerts = [] } = (await call("GET", "/v1/alerts?state=open&limit=500")) as {
    alerts?: { id: string }[];
  };
  for (const { id } of alerts.slice(-5)) {
    await call("POST", `/v1/alerts/${id}/ack`);
    await call("POST", `/v1/alerts/${id}/resolve`);
  }
}

/** A project, and what belongs to one, made and deleted. */
async function comeAndGo(call: Call, n: number): Promise<void> {
  const path = `/v1/projects/soak-${n}`;
  await call("POST", "/v1/projects", { name: `soak-${n}` });
  await call("POST", `${path}/sources`, { name: "s" });
  await call("POST", `${path}/rules`, { name: "r" });
  await call("POST", `${path}/reports`, { title: "T" });
  await call("DELETE", path);
}

/** One path that always takes, and one that fails a third of the time. */
async function startReceiver(): Promise<{ server: Server; port: number }> {
  let n = 0;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(request.url === "/flaky" && ++n % 3 === 0 ? 503 : 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, port: (server.address() as AddressInfo).port };
}
