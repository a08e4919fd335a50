import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { openStore } from "../src/ground/store/store.ts";
import { events } from "./events.ts";
import {
  fromRounds,
  mainThreadMs,
  type Row,
  type Scenario,
  start as startProcess,
  withDirectory,
} from "./harness.ts";

/** The executable where it is built, else the sources. */
function command(): [string, string[]] {
  const built = join(import.meta.dirname, "../dist/box");
  return existsSync(built) ? [built, []] : [process.execPath, ["cli/box.ts"]];
}

const serveOn = (data: string): string[] => {
  const flags = { data, listen: "127.0.0.1:0", "log-level": "silent" };
  return ["serve", ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])];
};

export const start: Scenario = {
  name: "start",
  about: "from the executable's start to listening, on a store of 1 GB, beside bare node",
  run: (quick) =>
    withDirectory(async (data) => {
      const [program, args] = command();
      // More than a start checks.
      fill(data, quick ? 100 : 1000);
      // The sources are read and stripped of their types at each start: no bound is for them.
      const bound = program === process.execPath ? {} : { must: 2.5 };
      const held = program === process.execPath ? {} : { hold: 2.4 };
      const started: Took[] = [];
      const bare: Took[] = [];
      for (let round = 0; round < (quick ? 5 : 9); round++) {
        bare.push(await timeToLine(process.execPath, ["bench/bare.mjs"]));
        started.push(await timeToLine(program, [...args, ...serveOn(data)]));
      }
      const times = started.map(({ ms }) => ms);
      const least = (of: Took[]) => Math.min(...of.map(({ cpu }) => cpu));
      return [
        ...(await npmStarts(quick)),
        fromRounds("start to listening", "ms", times, { must: 250, aim: 100, lower: true }),
        fromRounds(
          "bare node:http server",
          "ms",
          bare.map(({ ms }) => ms),
        ),
        fromRounds(
          "start / bare",
          "ratio",
          times.map((time, i) => time / (bare[i]?.ms ?? Number.NaN)),
          { ...bound, lower: true },
        ),
        // What others do on the machine hardly counts in the round that they disturbed least.
        {
          what: "start / bare, least processor time of the main thread",
          unit: "ratio",
          value: least(started) / least(bare),
          lower: true,
          ...held,
        },
      ];
    }),
};

/** The second `npm start`, beside that of a package whose program is the bare server. Nothing where dist/box is stale. */
async function npmStarts(quick: boolean): Promise<Row[]> {
  const root = join(import.meta.dirname, "..");
  if (spawnSync(join(root, "systemd/fresh")).status !== 0) return [];
  return withDirectory(async (directory) => {
    const program = `exec ${process.execPath} ${join(root, "bench/bare.mjs")}`;
    const scripts = { start: program };
    writeFileSync(join(directory, "package.json"), JSON.stringify({ name: "bare", scripts }));
    const env = { BOX_DATA: join(directory, "data"), BOX_LISTEN: "127.0.0.1:0" };
    const started = (prefix: string) =>
      timeToLine("npm", ["--prefix", prefix, "start", "--silent"], env);
    const ratios: number[] = [];
    // The first round makes the data directory.
    for (let round = -1; round < (quick ? 3 : 9); round++) {
      const [bare, box] = [await started(directory), await started(root)];
      if (round >= 0) ratios.push(box.ms / bare.ms);
    }
    const what = "npm start / npm start of a bare server";
    return [fromRounds(what, "ratio", ratios, { must: 3, lower: true })];
  });
}

/** Until a process wrote its first line: the time, and its main thread's processor time. */
interface Took {
  ms: number;
  cpu: number;
}

async function timeToLine(
  program: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Took> {
  const before = performance.now();
  const child = await startProcess(program, args, env);
  const took = { ms: performance.now() - before, cpu: mainThreadMs(child) };
  await child.stop();
  return took;
}

/** About `mb` megabytes of log lines. */
function fill(data: string, mb: number): void {
  const store = openStore({
    path: join(data, "box.db"),
    kind: "box",
    clock: systemClock,
    random: systemRandom,
  });
  for (let i = 0; i < mb / 10; i++) {
    store.write((tx) =>
      tx.db.exec(`WITH RECURSIVE n(i) AS (SELECT ${i * 20_000 + 1} UNION ALL SELECT i + 1 FROM n WHERE i < ${(i + 1) * 20_000})
        INSERT INTO log_lines (id, project_id, source_id, received_at, level, template_id, message)
        SELECT i, 1, 1, ${Math.floor(Date.now() / 1000)}, 200, 't', printf('%.*c', 480, 'x') FROM n`),
    );
  }
  store.close();
}

/** V8's own collections come 20 to 30 s after the last work. */
const REST_MS = 80_000;

/** Events after which memory is looked at on the way. */
const PART_WAY = 200_000;

function megabytes(what: string, bytes: number, bounds: Partial<Row> = {}): Row {
  return { what, unit: "MB", value: bytes / 1024 / 1024, lower: true, ...bounds };
}

/** Of the executable, which nobody uses, after V8 has collected what a start leaves. Nothing where it isn't built. */
async function atRest(): Promise<Row[]> {
  const [program, args] = command();
  if (args.length > 0) return [];
  return withDirectory(async (data) => {
    const server = await startProcess(program, serveOn(data));
    await new Promise((later) => setTimeout(later, REST_MS));
    const { anonymous } = server.memory();
    await server.stop();
    return [megabytes("the executable, nobody there", anonymous, { must: 50, aim: 40 })];
  });
}

export const memory: Scenario = {
  name: "memory",
  about: "anonymous memory when idle, after 200,000 and after a million events of 10,000 templates",
  async run(quick) {
    const rested = await atRest();
    const server = await startProcess(process.execPath, [
      "--max-semi-space-size=4",
      "bench/box-server.ts",
    ]);
    const [url, token] = server.line.split(" ");
    await new Promise((later) => setTimeout(later, 2000));
    const idle = server.memory();
    const total = quick ? 50_000 : 1_000_000;
    const base = events();
    let partWay: ReturnType<typeof server.memory> | null = null;
    for (let sent = 0; sent < total; sent += 4000) {
      if (sent === PART_WAY) partWay = server.memory();
      await Promise.all(
        Array.from({ length: 8 }, (_, lane) => {
          const body = Array.from({ length: 500 }, (_, i) => {
            const n = sent + lane * 500 + i;
            return n % 4 === 0
              ? JSON.stringify({ message: `${words(n % 10_000)} happened to ${n}` })
              : base[n % base.length];
          }).join("\n");
          return fetch(`${url}/v1/ingest`, {
            method: "POST",
            headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
            body,
          }).then((answer) => answer.text());
        }),
      );
    }
    const after = server.memory();
    await server.stop();
    return [
      ...rested,
      megabytes("idle, anonymous", idle.anonymous, { must: 120, aim: 90 }),
      ...(partWay === null
        ? []
        : [megabytes(`after ${PART_WAY} events, anonymous`, partWay.anonymous)]),
      megabytes(`after ${total} events, anonymous`, after.anonymous, { must: 250, aim: 180 }),
      megabytes("peak resident set", after.peak),
    ];
  },
};

const SYLLABLES = ["ka", "lo", "mi", "ner", "pu", "ra", "sto", "ti", "vel", "zu"];

/** A phrase of letters alone, another for each number below 10,000: digits would be masked. */
function words(n: number): string {
  const at = (i: number) => SYLLABLES[Math.floor(n / 10 ** i) % 10];
  return `${at(0)}${at(1)} ${at(2)}${at(3)}`;
}
