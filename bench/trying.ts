import { Pool } from "undici";
import { events, eventValues } from "./events.ts";
import {
  fromRounds,
  percentile,
  type Row,
  type Scenario,
  start,
  withDirectory,
} from "./harness.ts";
import { openLoop } from "./load.ts";

const LINES_A_REQUEST = 1000;
const EVENTS_A_SECOND = 300;
const BEATS = 10_000;
/** A project has at most so many. */
const BEATS_A_PROJECT = 500;

interface Server {
  url: string;
  token: string;
  key: string;
  stop(): Promise<unknown>;
}

async function serve(): Promise<Server> {
  const server = await start(process.execPath, ["bench/box-server.ts", "0"]);
  const [url = "", token = "", key = ""] = server.line.split(" ");
  return { url, token, key, stop: () => server.stop() };
}

async function api({ url, key }: Server, path: string, body: object) {
  const answer = await fetch(url + path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  });
  const said = (await answer.json()) as Record<string, unknown>;
  if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(said)}`);
  return said;
}

async function keep({ url, token }: Server, lines: number): Promise<void> {
  const values = eventValues(LINES_A_REQUEST);
  const body = values.map((value) => JSON.stringify(value)).join("\n");
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" };
  for (let sent = 0; sent < lines; ) {
    const answer = await fetch(`${url}/v1/ingest`, { method: "POST", headers, body });
    await answer.arrayBuffer();
    if (answer.status === 202) sent += LINES_A_REQUEST;
    else await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The 99th of a hundred ordinary events, in ms. */
const ingestP99 = ({ url, token }: Server, seconds: number) =>
  withDirectory(async (directory) => {
    const headers = { Authorization: `Bearer ${token}` };
    const load = { url: `${url}/v1/ingest`, headers, bodies: events(), directory };
    return (await openLoop({ ...load, connections: 32, seconds, rate: EVENTS_A_SECOND })).p99;
  });

const rule = {
  name: "tried",
  match: { min_level: 300 },
  identifier_keys: ["user"],
  fire_after: { count: 3, window_minutes: 5 },
};

interface Tried {
  range: { complete: boolean };
  scanned: { lines: number; ms: number };
}

/** A dry run over so many kept lines, and what it costs events beside it. */
async function dryRun(lines: number, { quick }: { quick: boolean }): Promise<Row[]> {
  const server = await serve();
  try {
    await keep(server, lines);
    const tryIt = () =>
      api(server, "/v1/projects/bench/rules/dry-run", {
        rule,
        days: 30,
      }) as unknown as Promise<Tried>;
    const seconds = quick ? 4 : 10;
    await tryIt();
    await ingestP99(server, 2);
    const [ratios, times, share]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < (quick ? 2 : 5); round++) {
      const before = await ingestP99(server, seconds);
      let isOver = false;
      const beside = ingestP99(server, seconds).finally(() => {
        isOver = true;
      });
      while (!isOver) {
        const { scanned } = await tryIt();
        times.push(scanned.ms);
        share.push(Math.min(1, scanned.lines / lines));
      }
      ratios.push((await beside) / ((before + (await ingestP99(server, seconds))) / 2));
    }
    return [
      fromRounds(`dry run of ${lines} lines`, "ms", times, { lower: true }),
      fromRounds(`part of ${lines} lines that it came to`, "ratio", share),
      fromRounds(`ingest p99 beside it / without, ${lines} lines`, "ratio", ratios, {
        lower: true,
      }),
    ];
  } finally {
    await server.stop();
  }
}

/** Each job once a minute, evenly, from timers: a generator that spins would take a core from the box. */
async function ping(url: string, { paths, seconds }: { paths: string[]; seconds: number }) {
  const pool = new Pool(url, { connections: 16 });
  const took: number[] = [];
  const all: Promise<void>[] = [];
  const begin = performance.now();
  const one = async (path: string) => {
    const from = performance.now();
    const { statusCode, body } = await pool.request({ path, method: "GET" });
    await body.text();
    if (statusCode !== 200) throw new Error(`a ping was answered ${statusCode}`);
    took.push(performance.now() - from);
  };
  for (let n = 0; n < (BEATS / 60) * seconds; ) {
    const due = ((performance.now() - begin) / 60_000) * BEATS;
    for (; n < due; n++) all.push(one(paths[n % paths.length] as string));
    await new Promise((resolve) => setTimeout(resolve, 6));
  }
  await Promise.all(all);
  await pool.destroy();
  return { p50: percentile(took, 50), p99: percentile(took, 99) };
}

/** 10,000 jobs that report each minute, evenly, and what they cost events beside them. */
async function beats({ quick }: { quick: boolean }): Promise<Row[]> {
  const server = await serve();
  try {
    const paths: string[] = [];
    for (let p = 0; paths.length < BEATS; p++) {
      await api(server, "/v1/projects", { name: `jobs${p}` });
      await api(server, `/v1/projects/jobs${p}/rules`, {
        name: "late",
        match: { tags: ["heartbeat"] },
      });
      for (let i = 0; i < BEATS_A_PROJECT; i++) {
        const job = { name: `job ${i}`, period_seconds: 60, grace_seconds: 60 };
        const { ping_url } = await api(server, `/v1/projects/jobs${p}/heartbeats`, job);
        paths.push(new URL(String(ping_url), server.url).pathname);
      }
    }
    const seconds = quick ? 10 : 60;
    const before = await ingestP99(server, Math.min(seconds, 20));
    const [pinged, beside] = await Promise.all([
      ping(server.url, { paths, seconds }),
      ingestP99(server, seconds),
    ]);
    const after = await ingestP99(server, Math.min(seconds, 20));
    return [
      { what: `ping p50, ${BEATS} jobs each minute`, value: pinged.p50, unit: "ms", lower: true },
      { what: `ping p99, ${BEATS} jobs each minute`, value: pinged.p99, unit: "ms", lower: true },
      {
        what: "ingest p99 beside them / without",
        value: beside / ((before + after) / 2),
        unit: "ratio",
        lower: true,
      },
    ];
  } finally {
    await server.stop();
  }
}

/** Each hour of 14 days of a ladder on a rota, with what it costs events beside it. */
async function sweep({ quick }: { quick: boolean }): Promise<Row[]> {
  const server = await serve();
  try {
    const headers = { authorization: `Bearer ${server.key}` };
    const answer = await fetch(`${server.url}/v1/accounts`, { headers });
    const { accounts } = (await answer.json()) as { accounts: { id: string }[] };
    const participants = accounts.map(({ id }) => id);
    const at = "/v1/projects/bench";
    await api(server, `${at}/oncall/schedules`, {
      name: "rota",
      timezone: "Europe/Vienna",
      layers: [{ name: "l", participants, rotation_start: 1_767_600_000, shift_minutes: 480 }],
    });
    const step = (after_minutes: number) => ({ after_minutes, schedules: ["rota"] });
    await api(server, `${at}/rules`, { name: "swept", escalations: [0, 10, 30, 60].map(step) });
    const seconds = quick ? 4 : 10;
    const before = await ingestP99(server, seconds);
    let isOver = false;
    const beside = ingestP99(server, seconds).finally(() => {
      isOver = true;
    });
    const times: number[] = [];
    while (!isOver) {
      const from = performance.now();
      await api(server, `${at}/rules/sweep`, { rule: "swept", days: 14 });
      times.push(performance.now() - from);
    }
    const ratio = (await beside) / ((before + (await ingestP99(server, seconds))) / 2);
    return [
      fromRounds("sweep of 14 days", "ms", times, { lower: true }),
      { what: "ingest p99 beside it / without", value: ratio, unit: "ratio", lower: true },
    ];
  } finally {
    await server.stop();
  }
}

export const trying: Scenario = {
  name: "trying",
  about: `dry runs of kept lines, a sweep of 14 days and ${BEATS} heartbeats each minute, with what they cost events`,
  async run(quick): Promise<Row[]> {
    const sizes = quick ? [100_000] : [100_000, 1_000_000];
    const rows: Row[] = [];
    for (const lines of sizes) rows.push(...(await dryRun(lines, { quick })));
    return [...rows, ...(await sweep({ quick })), ...(await beats({ quick }))];
  },
};
