import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { events } from "./events.ts";
import {
  type Child,
  fromRounds,
  hasCommand,
  type Row,
  type Scenario,
  start,
  withDirectory,
} from "./harness.ts";
import { boxTarget } from "./ingest.ts";
import { closedLoop } from "./load.ts";

export const slowdisk: Scenario = {
  name: "slowdisk",
  about: "single events with every sync slowed by 8 ms, 256 connections",
  async run(quick) {
    if (!hasCommand("gcc")) return [];
    return withDirectory(async (directory) => {
      const shim = join(directory, "slow.so");
      execFileSync("gcc", [
        "-shared",
        "-fPIC",
        "-O1",
        join(import.meta.dirname, "slow-fsync.c"),
        "-o",
        shim,
        "-ldl",
      ]);
      const rates: number[] = [];
      const tails: number[] = [];
      for (let round = 0; round < (quick ? 1 : 5); round++) {
        const target = await boxTarget(false, { LD_PRELOAD: shim });
        const load = { ...target, directory, connections: 256 };
        await closedLoop({ ...load, seconds: 2 });
        const result = await closedLoop({ ...load, seconds: quick ? 2 : 4 });
        await target.stop();
        rates.push(result.rate);
        tails.push(result.p99);
      }
      return [
        fromRounds("events with 8 ms syncs", "1/s", rates, { must: 5000, aim: 12_000 }),
        fromRounds("p99 with 8 ms syncs", "ms", tails),
      ];
    });
  },
};

export const bytes: Scenario = {
  name: "bytes",
  about: "bytes written to disk for each retained event, in batches of 50",
  async run(quick) {
    const all = events();
    const size = all.reduce((sum, event) => sum + Buffer.byteLength(event), 0) / all.length;
    const server = await start(process.execPath, ["bench/box-server.ts", "0"]);
    const [url, token] = server.line.split(" ");
    const send = async (batches: number) => {
      for (let i = 0; i < batches; i++) {
        const body = Array.from({ length: 50 }, (_, j) => all[(i * 50 + j) % all.length]).join(
          "\n",
        );
        await fetch(`${url}/v1/ingest`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
          body,
        });
      }
    };
    await send(20);
    const before = written(server);
    const batches = quick ? 200 : 2000;
    await send(batches);
    const each = (written(server) - before) / (batches * 50);
    await server.stop();
    const row: Row = {
      what: "bytes written / bytes of the event",
      unit: "ratio",
      value: each / size,
      must: 4,
      aim: 2.5,
      lower: true,
    };
    return [
      row,
      { what: "bytes written for each event", unit: "bytes", value: each },
      { what: "an event", unit: "bytes", value: size },
    ];
  },
};

/** Bytes the process caused to be written to storage, the log and its checkpoints both. */
function written(child: Child): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${child.pid}/io`, "utf8"))?.[1]);
}
