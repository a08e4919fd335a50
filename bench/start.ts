import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { openStore } from "../src/ground/store/store.ts";
import {
  type Child,
  fromRounds,
  mainThreadMs,
  type Row,
  type Scenario,
  start as startProcess,
  withDirectory,
} from "./harness.ts";

/** The executable where it is built, else the sources. */
export function command(): [string, string[]] {
  const built = join(import.meta.dirname, "../dist/box");
  return existsSync(built) ? [built, []] : [process.execPath, ["cli/box.ts"]];
}

const serveOn = (data: string): string[] => {
  const flags = { data, listen: "127.0.0.1:0", "log-level": "silent" };
  return ["serve", ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])];
};

/** A box as people run it, without limits of rates; the memory's arenas as the units and the image set them. */
export const serving = (data: string): Promise<Child> => {
  const [program, words] = command();
  const all = [...words, ...serveOn(data), "--ingest-rate", "0", "--api-rate", "0"];
  return startProcess(program, all, { MALLOC_ARENA_MAX: "2" });
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
