import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../ground/kit/clock.ts";
import { type Api, createApi } from "./api.ts";
import { pushPerson } from "./devices.ts";
import type { RunEvidence } from "./evidence.ts";
import { type Feed, startFeed } from "./feed.ts";
import { type Figures, figuresOf, type Seen } from "./figures.ts";
import { blindSpots } from "./forge.ts";
import { judge, type Violation } from "./judge.ts";
import { killAt, type Moment, moments, planKills } from "./kills.ts";
import { emptyBut, endedOf, type Machine, servingOf } from "./machines.ts";
import { lookAtNames } from "./names.ts";
import { type Receivers, startReceivers } from "./receiver.ts";
import { type Process, type Program, runCommand, startBoxProcess, within } from "./scratch-box.ts";
import { type Seeded, seeded } from "./seeded.ts";
import { drained, readAlerts, readFiles } from "./survey.ts";
import { build, everySetting, reachOwner } from "./world.ts";

interface ProveOptions {
  /** The command that starts a box. */
  program: Program;
  /** Where the scratch directory is made. Default: the system's directory for temporary files. */
  directory?: string;
  /**
   * What names an empty database in a box's environment. Then two machines share the box, some kills take a machine's disk
   * as well, and what the database has at the end is judged.
   */
  database?: Readonly<Record<string, string>>;
  seed: number;
  kills: number;
  clock: Clock;
  onProgress?(progress: Progress): void;
}

export interface Progress {
  kill: number;
  kills: number;
  moment: Moment | "draining";
  events: number;
  arrivals: number;
}

export interface RunVerdict {
  /** No promise was broken, and the judge would have noticed it. */
  ok: boolean;
  seed: number;
  figures: Figures;
  violations: Violation[];
  /** Promises that the evidence couldn't test. */
  unproven: string[];
}

/** The parts of a run. */
interface Run extends Seen {
  options: ProveOptions;
  root: string;
  api: Api;
  receivers: Receivers;
  startTimes: number[];
  takeTimes: number[];
  /** Every process that was started. */
  started: Process[];
}

/** Each so many kills with a database, the machine is lost with its disk. */
const LOST = 3;
/** A longer start counts as failed. */
const START_MS = 30_000;

/**
 * Feeds a scratch box while it is killed again and again, and judges it by a ledger kept outside of it. Throws where
 * the proof itself can't be made; broken promises are in the verdict.
 */
export async function prove(options: ProveOptions) {
  const { clock, seed } = options;
  const from = clock.mono();
  const root = mkdtempSync(join(options.directory ?? tmpdir(), "box-prove-"));
  const receivers = await startReceivers(clock, seed);
  const evidence = emptyEvidence(receivers);
  const killed = Object.fromEntries(moments.map((moment) => [moment, 0])) as Run["killed"];
  const api = createApi();
  const times = { startTimes: [], takeTimes: [] };
  const run: Run = { options, root, api, receivers, evidence, killed, ...times, started: [] };
  let drainMs: number | null;
  try {
    drainMs = await story(run);
  } finally {
    run.api.close();
    await receivers.close();
  }
  // A box that doesn't start can't be asked for its data. That it doesn't start is enough.
  const seen = drainMs === null ? { ...emptyEvidence(receivers), falls: evidence.falls } : evidence;
  const violations = judge(seen);
  const unproven = drainMs === null ? [] : blindSpots(seen);
  const ok = violations.length === 0 && unproven.length === 0;
  if (ok) rmSync(root, { recursive: true, force: true });
  const took = { drainSeconds: (drainMs ?? 0) / 1000, seconds: (clock.mono() - from) / 1000 };
  const figures = { ...figuresOf(run), ...took };
  return { verdict: { ok, seed, figures, violations, unproven }, evidence, directory: root };
}

function emptyEvidence(receivers: Receivers): RunEvidence {
  return {
    events: [],
    verbs: [],
    alerts: [],
    lines: [],
    falls: [],
    oddAnswers: [],
    words: [],
    looks: [],
    pages: [],
    hushes: [],
    rings: [],
    rises: [],
    climbs: [],
    pressed: [],
    devices: [],
    pushes: receivers.pushes as RunEvidence["pushes"],
    told: receivers.told as RunEvidence["told"],
    arrivals: receivers.arrivals as RunEvidence["arrivals"],
    projects: everySetting.map(({ name, rules, endpoints, action, named, quiet }) => ({
      name,
      rules,
      endpoints,
      action,
      named,
      quiet,
    })),
    pending: 0,
    givenUp: 0,
    damage: null,
  };
}

/** A start failed, so nothing more can be sent. */
const fallen = Symbol("fallen");

/** Runs everything up to the last stop. Returns the drain's milliseconds; null where the box stayed down. */
async function story(run: Run): Promise<number | null> {
  const { options, evidence, api, receivers } = run;
  const { clock, seed } = options;
  const choice = seeded(seed, "moments");
  const plan = planKills(options.kills, seed, options.database === undefined ? undefined : 1);
  let feed: Feed | null = null;
  try {
    const firsts = plan.filter((moment) => moment === "first-start").length;
    const data = await firstStarts(run, firsts, choice);
    let machines = await serve(run, [await start(run, data)]);
    feed = await furnish(run, data);
    if (options.database !== undefined) machines = await joined(run, machines);
    for (const moment of plan.slice(firsts)) {
      const [{ process: box, data }] = machines;
      progress(run, moment);
      if (moment === "starting") {
        box.kill("SIGKILL");
        feed.shut();
        await box.ended;
        await killStarting(run, data, choice);
      } else {
        await killAt(moment, { clock, choice, feed, receivers, box, data });
        await noteFall(run, box);
      }
      run.killed[moment]++;
      machines = await again(run, machines);
      evidence.looks.push(...(await lookAtNames(api, evidence.words)));
      feed.open();
    }
    await feed.stop();
    progress(run, "draining");
    receivers.heal();
    const from = clock.mono();
    evidence.pending = await drained(api, clock);
    const drainMs = clock.mono() - from;
    evidence.alerts = await readAlerts(api);
    evidence.looks.push(...(await lookAtNames(api, evidence.words)));
    // Whoever stands by would take the box.
    for (const { process } of machines.toReversed()) await stopInOrder(run, process);
    Object.assign(evidence, readFiles(await keptAt(run, machines[0].data)));
    return drainMs;
  } catch (error) {
    if (error === fallen) return null;
    throw error;
  } finally {
    feed?.shut();
    for (const process of run.started) process.kill("SIGKILL");
  }
}

/** The machine that serves, and the one that stands by. */
type Machines = [Machine, ...Machine[]];

/** A second machine, which has the keys alone. */
async function joined(run: Run, [first]: Machines): Promise<Machines> {
  const data = join(run.root, "second");
  emptyBut(data, first.data);
  return [first, await start(run, data)];
}

/** After a kill the machine starts again. Or it is lost with its disk: the other takes over, and it joins with the keys alone. */
async function again(run: Run, [{ data }, ...others]: Machines): Promise<Machines> {
  const { clock } = run.options;
  const [other] = others;
  if (other !== undefined && killsOf(run) % LOST === 0) {
    const from = clock.mono();
    await serve(run, [other]);
    run.takeTimes.push(clock.mono() - from);
    emptyBut(data, other.data);
  }
  return serve(run, [await start(run, data), ...others]);
}

/** Waits until one of them serves, and asks it from now on. Throws `fallen` where none does. */
async function serve(run: Run, machines: Machines): Promise<Machines> {
  const { clock, database } = run.options;
  const serving = database === undefined ? machines[0] : await servingOf(machines, run.api, clock);
  if (serving === null) {
    const ended = await endedOf(machines, clock);
    run.evidence.falls.push(ended ?? "neither machine serves the box");
    throw fallen;
  }
  run.api.at(serving.url);
  return [serving, ...machines.filter((other) => other !== serving)];
}

/** Where the files are that are judged. What a database has is made a store by a new machine. */
async function keptAt(run: Run, data: string): Promise<string> {
  if (run.options.database === undefined) return data;
  const kept = join(run.root, "from-database");
  emptyBut(kept, data);
  const [{ process }] = await serve(run, [await start(run, kept)]);
  await stopInOrder(run, process);
  return kept;
}

/** Kills first starts, each in a directory of its own that must start afterwards. Returns the last directory. */
async function firstStarts(run: Run, kills: number, choice: Seeded): Promise<string> {
  const { database } = run.options;
  let data = join(run.root, "data-0");
  mkdirSync(data);
  // It gets no database: one holds one box.
  let typical = await timeStart(run, data, {});
  if (database !== undefined) run.startTimes = [];
  for (let i = 1; i <= kills; i++) {
    progress(run, "first-start");
    data = join(run.root, `data-${i}`);
    await killStarting(run, data, choice, database === undefined ? typical : typical * 2);
    run.killed["first-start"]++;
    typical = await timeStart(run, data);
  }
  return data;
}

/** Measures a start that isn't killed before it listens. */
async function timeStart(run: Run, data: string, environment = run.options.database) {
  const { process } = await start(run, data, environment);
  process.kill("SIGKILL");
  await process.ended;
  return run.startTimes.at(-1) ?? 0;
}

async function killStarting(
  run: Run,
  data: string,
  choice: Seeded,
  typical = Math.min(...run.startTimes),
): Promise<void> {
  const box = launch(run, data);
  await within(run.options.clock, choice.between(0, Math.ceil(typical * 1.1)), box.ended);
  box.kill("SIGKILL");
  await noteFall(run, box);
}

function launch(run: Run, data: string, environment = run.options.database): Process {
  const box = startBoxProcess(run.options.program, data, environment);
  run.started.push(box);
  return box;
}

/** Starts the box and waits until it listens. Throws `fallen` where it fails. */
async function start(run: Run, data: string, environment = run.options.database): Promise<Machine> {
  const { clock, database } = run.options;
  const from = clock.mono();
  const process = launch(run, data, environment);
  const url = await within(clock, START_MS, process.ready);
  if (url === null) {
    process.kill("SIGKILL");
    const { code, said } = await process.ended;
    if (database !== undefined && run.startTimes.length === 0)
      throw new Error(`no box starts with the database, which must be empty: ${said}`);
    run.evidence.falls.push(`it did not start (exit code ${code ?? "none"}): ${said}`);
    throw fallen;
  }
  run.startTimes.push(clock.mono() - from);
  return { data, url, process };
}

/** Makes the first account by pairing code, the projects by the API, and the feed. */
async function furnish(run: Run, data: string): Promise<Feed> {
  const { options, api, receivers, evidence } = run;
  const issued = await runCommand(options.program, ["pair-code", "--data", data, "--json"]);
  const code = String(issued["code"]);
  const seat = { code, email: "prover@example.org", password: `${code}-prover` };
  const paired = await api.need("POST", "/v1/pair", seat);
  api.key = String(paired["api_key"]);
  const critical = await reachOwner(api, receivers);
  const pushed = await pushPerson(api, { receivers, devices: evidence.devices });
  const people = [String(paired["box_account_id"]), pushed.accountId];
  const tokens = await build(api, receivers.urls, people);
  const feed = startFeed({
    clock: options.clock,
    seed: options.seed,
    api,
    tokens,
    receivers,
    pushed,
    owner: String(paired["box_account_id"]),
    critical,
    ledger: evidence,
  });
  feed.open();
  return feed;
}

/** Records an end that the prover didn't cause, or that wasn't the requested kind. */
async function noteFall(run: Run, box: Process): Promise<void> {
  const { code, signal, said } = await box.ended;
  if (signal === "SIGKILL" || (code === 0 && box.wasKilled)) return;
  run.evidence.falls.push(`it ended with ${signal ?? `exit code ${code}`}: ${said}`);
}

async function stopInOrder(run: Run, box: Process): Promise<void> {
  box.kill("SIGTERM");
  const ending = await within(run.options.clock, START_MS, box.ended);
  if (ending?.code !== 0)
    run.evidence.falls.push(`stopping ended with ${ending?.code ?? "nothing"}`);
}

function progress(run: Run, moment: Progress["moment"]): void {
  const kill = killsOf(run);
  const { kills, onProgress } = run.options;
  const { events, arrivals } = run.evidence;
  onProgress?.({ kill, kills, moment, events: events.length, arrivals: arrivals.length });
}

const killsOf = ({ killed }: Run): number => Object.values(killed).reduce((sum, n) => sum + n, 0);
