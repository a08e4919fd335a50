import { rmSync } from "node:fs";
import { startAlertmanager } from "./alertmanager.ts";
import { events } from "./events.ts";
import {
  fromRounds,
  hasCommand,
  type Row,
  type Scenario,
  start,
  withDirectory,
} from "./harness.ts";
import { closedLoop, type LoadResult, openLoop } from "./load.ts";
import { serving } from "./start.ts";

export interface Target {
  name: string;
  url: string;
  headers: Record<string, string>;
  bodies: string[];
  /** Of many senders, who take turns. */
  tokens?: string[];
  /** Events in one request. */
  each: number;
  /** An owner's, and its directory: of a box. */
  key?: string | undefined;
  data?: string | undefined;
  /** CPU seconds used so far. */
  cpu(): number;
  stop(): Promise<void>;
}

const json = { "Content-Type": "application/json" };

export async function bareTarget(): Promise<Target> {
  const server = await start(process.execPath, ["bench/bare.mjs"]);
  return {
    name: "bare",
    url: `${server.line}/v1/ingest`,
    headers: json,
    bodies: events(),
    each: 1,
    cpu: server.cpu,
    stop: server.stop,
  };
}

export async function boxTarget(
  ndjson: boolean,
  env: Record<string, string> = {},
): Promise<Target> {
  const server = await start(process.execPath, ["bench/box-server.ts"], env);
  const [url, token, key, data] = server.line.split(" ");
  const headers = {
    Authorization: `Bearer ${token}`,
    "Content-Type": ndjson ? "application/x-ndjson" : "application/json",
  };
  const all = events();
  const bodies = ndjson
    ? Array.from({ length: 16 }, (_, i) =>
        Array.from({ length: 100 }, (_, j) => all[(i * 31 + j) % 512]).join("\n"),
      )
    : all;
  return {
    name: ndjson ? "box, NDJSON" : "box",
    url: `${url}/v1/ingest`,
    headers,
    bodies,
    key,
    data,
    each: ndjson ? 100 : 1,
    cpu: server.cpu,
    stop: server.stop,
  };
}

/** The same box, served as people run it: by the executable where it is built. */
async function servedTarget(): Promise<Target> {
  const maker = await start(process.execPath, ["bench/box-server.ts"]);
  const [, token, , data = ""] = maker.line.split(" ");
  // Told to end it would remove its data.
  process.kill(maker.pid, "SIGKILL");
  await maker.stop();
  const server = await serving(data);
  return {
    name: "box",
    url: `${server.line.split(" ").at(-1)}/v1/ingest`,
    headers: { Authorization: `Bearer ${token}`, ...json },
    bodies: events(),
    each: 1,
    cpu: server.cpu,
    stop: () => server.stop().finally(() => rmSync(data, { recursive: true, force: true })),
  };
}

/** Of one round: with the server's CPU microseconds for each event. */
type Results = Map<string, (LoadResult & { cpuPerEvent: number })[]>;

/** Rounds of fresh servers, one after the other, so that what drifts drifts for all. */
async function rounds(
  makers: (() => Promise<Target>)[],
  how: { rounds: number; seconds: number; connections: number; close?: boolean },
): Promise<Results> {
  const results: Results = new Map();
  for (let round = 0; round < how.rounds; round++) {
    for (const make of makers) {
      const target = await make();
      const result = await withDirectory(async (directory) => {
        const load = {
          ...target,
          directory,
          connections: how.connections,
          ...(how.close ? { close: true } : {}),
        };
        await closedLoop({ ...load, seconds: 2 });
        const before = target.cpu();
        const measured = await closedLoop({ ...load, seconds: how.seconds });
        const events = measured.rate * how.seconds * target.each;
        return { ...measured, cpuPerEvent: ((target.cpu() - before) * 1e6) / events };
      });
      await target.stop();
      results.set(target.name, [
        ...(results.get(target.name) ?? []),
        { ...result, rate: result.rate * target.each },
      ]);
    }
  }
  return results;
}

function ratios(results: Results, of: string, to: string): number[] {
  const rates = (name: string) => (results.get(name) ?? []).map(({ rate }) => rate);
  return quotients(rates(of), rates(to));
}

function rates(results: Results): Row[] {
  return [...results].flatMap(([name, list]) => [
    fromRounds(
      `${name}: events`,
      "1/s",
      list.map(({ rate }) => rate),
    ),
    fromRounds(
      `${name}: CPU`,
      "µs an event",
      list.map(({ cpuPerEvent }) => cpuPerEvent),
    ),
    fromRounds(
      `${name}: p99`,
      "ms",
      list.map(({ p99 }) => p99),
    ),
    fromRounds(
      `${name}: load generator`,
      "of a core",
      list.map(({ generator }) => generator),
    ),
  ]);
}

export const ingest: Scenario = {
  name: "ingest",
  about:
    "durable single events, 64 connections, beside a bare server (and Alertmanager where it is installed)",
  async run(quick) {
    const how = { rounds: quick ? 2 : 5, seconds: quick ? 2 : 4, connections: 64 };
    const am = hasCommand("prometheus-alertmanager");
    const results = await rounds(
      [bareTarget, () => boxTarget(false), ...(am ? [startAlertmanager] : [])],
      how,
    );
    return [
      fromRounds("single event / bare", "ratio", ratios(results, "box", "bare"), {
        must: 0.45,
        aim: 0.65,
      }),
      ...(am
        ? [
            fromRounds(
              "single event / Alertmanager",
              "ratio",
              ratios(results, "box", "alertmanager"),
              { must: 1, aim: 1.5 },
            ),
          ]
        : []),
      ...rates(results),
    ];
  },
};

export const close: Scenario = {
  name: "close",
  about: "the same with a new connection for each request",
  async run(quick) {
    const how = { rounds: quick ? 2 : 5, seconds: quick ? 2 : 4, connections: 64, close: true };
    const results = await rounds([bareTarget, () => boxTarget(false)], how);
    return [
      fromRounds("single event, new connections / bare", "ratio", ratios(results, "box", "bare"), {
        must: 0.5,
        aim: 0.8,
      }),
      ...rates(results),
    ];
  },
};

export const ndjson: Scenario = {
  name: "ndjson",
  about: "NDJSON of 100 beside single events",
  async run(quick) {
    const how = { rounds: quick ? 2 : 5, seconds: quick ? 2 : 4, connections: 16 };
    const results = await rounds([() => boxTarget(false), () => boxTarget(true)], how);
    return [
      fromRounds(
        "NDJSON of 100 / single event",
        "ratio of events",
        ratios(results, "box, NDJSON", "box"),
        { must: 5, aim: 8 },
      ),
      ...rates(results),
    ];
  },
};

/** The machine that the bounds are for answers seven times 10,000 requests a second with a bare server. */
const SHARE = 7;
/** Each program first gets so many seconds of the same load; they have a row of their own. */
const WARM_SECONDS = 3;

export const openloop: Scenario = {
  name: "openloop",
  about:
    "latency from when each event was due, at 10,000 a second and at a seventh of what a bare server answers here",
  async run(quick) {
    const rows = new Map<string, number[]>();
    const keep = (what: string, value: number) =>
      rows.set(what, [...(rows.get(what) ?? []), value]);
    const am = hasCommand("prometheus-alertmanager");
    const makers = [bareTarget, servedTarget, ...(am ? [startAlertmanager] : [])];
    const seventh = (await bareRate()) / SHARE;
    for (let round = 0; round < (quick ? 1 : 5); round++) {
      for (const [at, rate] of [
        ["10,000/s", 10_000],
        ["a seventh", seventh],
      ] as const) {
        for (const make of makers) {
          const target = await make();
          const load = { ...target, directory: "", connections: 64, seconds: quick ? 3 : 5, rate };
          const { p99, warmP99 } = await openLoop({ ...load, warm: WARM_SECONDS });
          await target.stop();
          keep(`${target.name}: p99 at ${at}`, p99);
          keep(`${target.name}: first ${WARM_SECONDS} s at ${at}`, warmP99);
        }
      }
    }
    const p99 = (name: string, at: string) => rows.get(`${name}: p99 at ${at}`) ?? [];
    return [
      { what: "a seventh of the bare server's rate", unit: "1/s", value: seventh },
      ...(am ? ["10,000/s", "a seventh"] : []).map((at) =>
        fromRounds(
          `box / alertmanager: p99 at ${at}`,
          "ratio",
          quotients(p99("box", at), p99("alertmanager", at)),
          {
            must: 1.3,
            aim: 1,
            lower: true,
          },
        ),
      ),
      ...[...rows].map(([what, values]) =>
        fromRounds(
          what,
          "ms",
          values,
          what.startsWith("box: p99") ? { must: 12, aim: 6, lower: true } : {},
        ),
      ),
    ];
  },
};

function quotients(of: readonly number[], to: readonly number[]): number[] {
  return of.map((value, i) => value / (to[i] ?? Number.NaN));
}

/** Requests a second that a bare server answers in a closed loop. */
async function bareRate(): Promise<number> {
  const target = await bareTarget();
  const { rate } = await withDirectory((directory) =>
    closedLoop({ ...target, directory, connections: 64, seconds: 3 }),
  );
  await target.stop();
  return rate;
}
