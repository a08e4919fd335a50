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
  about: "bytes written to disk for each retained event, in batches of 50 and alone",
  async run(quick) {
    const all = events();
    const size = all.reduce((sum, event) => sum + Buffer.byteLength(event), 0) / all.length;
    const server = await start(process.execPath, ["bench/box-server.ts", "0"]);
    const [url, token] = server.line.split(" ");
    const send = async (batches: number, of: number) => {
      for (let i = 0; i < batches; i++) {
        const lines = Array.from({ length: of }, (_, j) => all[(i * of + j) % all.length]);
        const body = lines.join("\n");
        await fetch(`${url}/v1/ingest`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
          body,
        });
      }
    };
    await send(20, 50);
    const costOf = async (batches: number, of: number) => {
      const before = written(server);
      await send(batches, of);
      return (written(server) - before) / (batches * of);
    };
    const each = await costOf(quick ? 1000 : 2000, 50);
    // As many as an event a second writes in half an hour, each by itself.
    const alone = await costOf(quick ? 500 : 2000, 1);
    await server.stop();
    const row: Row = {
      what: "bytes written / bytes of the event",
      unit: "ratio",
      value: each / size,
      must: 2.5,
      aim: 2,
      hold: 2.1,
      lower: true,
    };
    return [
      row,
      {
        what: "the same for an event alone",
        unit: "ratio",
        value: alone / size,
        hold: 44,
        lower: true,
      },
      { what: "bytes written for each event", unit: "bytes", value: each },
      { what: "bytes written for an event alone", unit: "bytes", value: alone },
      { what: "an event", unit: "bytes", value: size },
    ];
  },
};

/** Bytes the process caused to be written to storage, the log and its checkpoints both. */
function written(child: Child): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${child.pid}/io`, "utf8"))?.[1]);
}
