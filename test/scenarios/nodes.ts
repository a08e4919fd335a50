/**
 * Two hosted nodes on one PostgreSQL with a synchronous standby, and boxes that page and beat through a load balancer,
 * while nodes are killed, stand still, connections are cut and the database is lost to its standby, again and again:
 *
 *     node test/scenarios/nodes.ts [blows, default 200] [seed, default 1] [fault]
 *
 * Every page that was answered was pushed, and every push made twice is excused by a blow between the two. `fault` plants
 * one of `faults` in the program, which has to be found.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { type FakeApns, startFakeApns } from "../support/apns.ts";
import { type Forwarder, startForwarder } from "../support/forwarder.ts";
import { ask } from "../support/hosted-role.ts";
import { type PostgresPair, startPostgresPair } from "../support/postgres-pair.ts";
import { programFile } from "../support/program.ts";
import { seeded } from "../support/seeded.ts";
import { whoConnects } from "../support/who-connects.ts";

/** Between two pages of one box, milliseconds. */
const PAGE_EVERY = 120;
const BEAT_EVERY = 1_000;
const LATEST_BLOW_MS = 400;
/** A hold is over after so long: whoever stood still longer may find that another has pushed. */
const HOLD_MS = 15_000;
const DRAIN_MS = 120_000;
/** How long most pushes take at most. */
const PUSH_MS = 80;
/** One in so many takes long, up to so many milliseconds: whoever asks again meanwhile finds it in flight. */
const SLOW_ONE_IN = 12;
const SLOW_PUSH_MS = 3_000;

/** Ways to spoil the program that this story has to find; each is a text of it and what stands there instead. */
export const faults = {
  // As if one node's clock, by which it would go, were ahead of the other's.
  "holds by node time": [
    "c.held_until < now() OR",
    "c.held_until < now() + CASE WHEN excluded.holder LIKE 'two/%' THEN interval '20 s' ELSE '0' END OR",
  ],
  "every hold is freed at a start": ["left(holder, length($1) + 1) = $1 || '/'", "$1 <> ''"],
  "in flight is said to be done": [': { kind: "in_flight" };', ': { kind: "done", devices: 1 };'],
  "a hold is shorter than a push": ["HOLD_SECONDS = 15", "HOLD_SECONDS = 1"],
} as const satisfies Record<string, readonly [text: string, spoilt: string]>;
export type Fault = keyof typeof faults;

const BLOWS = ["kill", "pause", "database cut", "box cut", "fail-over"] as const;
type Blow = (typeof BLOWS)[number];

export interface NodesResult {
  blows: Record<Blow, number>;
  pages: number;
  beats: number;
  pushes: number;
  /** Pushes made twice, each over a blow that excuses it. */
  excused: number;
  /** From the first try of a page to its answer, milliseconds. */
  worst: number;
}

/** A node of its own process that can be killed, stopped, and started again on its directory and port. */
class Node {
  readonly #words: readonly string[];
  #child: ChildProcess | null = null;
  port = 0;

  constructor(words: readonly string[]) {
    this.#words = words;
  }

  async start(): Promise<void> {
    const listen = ["--listen", `127.0.0.1:${this.port}`, "--log-level", "fatal"];
    const child = spawn(process.execPath, [...this.#words, ...listen], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child = child;
    this.port = await new Promise<number>((resolve, reject) => {
      let out = "";
      child.once("exit", (code) => reject(new Error(`a node ended with ${code}`)));
      child.stdout.on("data", (data) => {
        out += data;
        const port = /listening on \S+:(\d+)/.exec(out)?.[1];
        if (port !== undefined) resolve(Number(port));
      });
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGKILL");
    await gone;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(signal);
  }
}

/** A box as the service sees it: what it has to say is said until it is answered. */
interface Box {
  keyId: string;
  secret: string;
  device: string;
}

interface SentPage {
  alert: string;
  device: string;
  firstAt: number;
  answeredAt: number | null;
  devices: number;
}

class Story {
  readonly root = mkdtempSync(join(tmpdir(), "box-nodes-"));
  readonly nodes: Node[] = [];
  readonly pages: SentPage[] = [];
  /** Whose a connection to the push provider is, by the port from which it comes. */
  readonly pushers = new Map<number, Node>();
  readonly #boxes: Promise<void>[] = [];
  beats = 0;
  isOver = false;
  balancer!: Forwarder;
  database!: Forwarder;
  apns!: FakeApns;
  pair!: PostgresPair;

  async begin(how: { program: string; boxes: number; random: () => number }): Promise<void> {
    const { program, random } = how;
    const onConnection = (port: number) => {
      const pid = whoConnects(
        port,
        this.nodes.map((node) => node.pid),
      );
      const node = this.nodes.find((one) => one.pid === pid);
      if (node !== undefined) this.pushers.set(port, node);
    };
    [this.apns, this.pair] = await Promise.all([
      startFakeApns({ onConnection }),
      startPostgresPair(),
    ]);
    this.database = await startForwarder(() => [
      { path: join(this.pair.socket(), ".s.PGSQL.5432") },
    ]);
    const url = `postgres://box@127.0.0.1:${this.database.port}/box?sslmode=disable`;
    const key = join(this.root, "hosted.key");
    writeFileSync(key, randomBytes(32), { mode: 0o600 });
    const of = (name: string) => {
      const data = join(this.root, name);
      mkdirSync(data, { mode: 0o700 });
      const where = ["--data", data, "--database", url, "--hosted-key", key];
      return [program, "hosted", "serve", ...where, "--node", name, "--relay-rate", "0", "--lab"];
    };
    for (const name of ["one", "two"]) this.nodes.push(new Node(of(name)));
    for (const node of this.nodes) await node.start();
    const targets = () => this.nodes.map(({ port }) => ({ host: "127.0.0.1", port }));
    this.balancer = await startForwarder(targets);
    const operate = async (...words: string[]) => {
      const all = [program, "hosted", ...words, "--json", "--database", url, "--hosted-key", key];
      return JSON.parse((await promisify(execFile)(process.execPath, all)).stdout);
    };
    const { apns } = this;
    const [keyFile, ca] = [join(this.root, "k.p8"), join(this.root, "ca.pem")];
    writeFileSync(keyFile, apns.key);
    writeFileSync(ca, apns.ca);
    await operate(
      ...["apns", "set", "--key-file", keyFile, "--ca", ca, "--key-id", apns.keyId],
      ...["--team-id", apns.teamId, "--topic", apns.topic, "--endpoint", apns.endpoint],
    );
    for (let n = 0; n < how.boxes; n++) {
      const box = await this.#pair(`p${n}`, operate);
      this.#boxes.push(this.#page(box, random), this.#beat(box));
    }
  }

  /** A tenant with one person and their phone: the first pairing needs no receipt, and is given the relay's key. */
  async #pair(
    name: string,
    operate: (...words: string[]) => Promise<Record<string, string>>,
  ): Promise<Box> {
    const email = `${name}@example.com`;
    const { tenant_id: tenant } = await operate("tenant", "add", "--kind", "box");
    await operate("account", "add", "--email", email);
    const { token } = await operate("session", "add", "--email", email);
    const device = Buffer.from(name.padEnd(32, ".")).toString("hex");
    const call = async (path: string, body: object) => {
      const answer = await ask(`http://127.0.0.1:${this.balancer.port}${path}`, {
        ...{ method: "POST", body: JSON.stringify(body) },
        headers: { authorization: `Bearer ${token}` },
      });
      assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    };
    await call("/v1/account/devices", { token: device, platform: "ios" });
    const { relay } = await call(`/v1/tenants/${tenant}/pair`, {
      box_account_id: name,
      receipt: "r".repeat(48),
    });
    return { keyId: relay.relay_key_id, secret: relay.relay_secret, device };
  }

  /** Says one thing once; null: nobody answered. */
  async #say({ keyId, secret }: Box, body: string) {
    const stamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", secret).update(`${stamp}.${body}`).digest("hex");
    return ask(`http://127.0.0.1:${this.balancer.port}/v1/relay/${keyId}`, {
      ...{ method: "POST", body, signal: AbortSignal.timeout(15_000) },
      headers: {
        ...{ "x-service-timestamp": stamp, "x-service-signature": signature },
        connection: "close",
      },
    }).catch(() => null);
  }

  async #page(box: Box, random: () => number): Promise<void> {
    const waiting: Promise<void>[] = [];
    while (!this.isOver) {
      const alert = String(this.pages.length + 1);
      const page: SentPage = {
        ...{ alert, device: box.device, firstAt: performance.now() },
        ...{ answeredAt: null, devices: 0 },
      };
      this.pages.push(page);
      waiting.push(this.#untilAnswered(box, page));
      await pause(PAGE_EVERY * (0.5 + random()));
    }
    await Promise.all(waiting);
  }

  async #untilAnswered(box: Box, page: SentPage): Promise<void> {
    const timestamp = Math.floor(Date.now() / 1000);
    const about = { project: "shop", rule: "any", template: "disk full", count: 1, level: 400 };
    const body = JSON.stringify({
      event: "alert.opened",
      alert_id: page.alert,
      timestamp,
      ...about,
    });
    for (;;) {
      const answer = await this.#say(box, body);
      if (answer?.status === 200) {
        page.devices = answer.body.devices;
        page.answeredAt = performance.now();
        return;
      }
      const mayComeAgain = answer === null || [409, 429, 502, 503].includes(answer.status);
      assert.ok(
        mayComeAgain,
        `page ${page.alert}: ${answer?.status} ${JSON.stringify(answer?.body)}`,
      );
      if (performance.now() - page.firstAt > DRAIN_MS)
        throw new Error(`page ${page.alert} was never answered`);
      await pause(150);
    }
  }

  async #beat(box: Box): Promise<void> {
    while (!this.isOver) {
      const about = { event: "box.heartbeat", alert_id: "", project: "" };
      const answer = await this.#say(box, JSON.stringify(about));
      assert.ok(
        answer === null || [200, 429, 503].includes(answer.status),
        `a beat was answered ${answer?.status}`,
      );
      if (answer?.status === 200) this.beats++;
      await pause(BEAT_EVERY);
    }
  }

  /** Every page was answered; throws what a box met. */
  async drain(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.#boxes);
  }

  /** What a box met that it mustn't, as soon as it does. */
  failed(): Promise<void> {
    return Promise.all(this.#boxes).then(() => {});
  }

  async end(): Promise<void> {
    this.isOver = true;
    for (const node of this.nodes) await node.kill();
    await this.balancer?.close();
    await this.database?.close();
    await this.apns?.close();
    await this.pair?.stop();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** A time, by performance.now(), in which a page may have been pushed and the note of it lost. */
interface Excuse {
  from: number;
  until: number;
  /** The node that it fell on; null: the database, which is everybody's. */
  node: Node | null;
}

/** Blows fall at random moments, each tenth is a fail-over; throws where a promise was broken. */
export async function nodesStory(options: {
  blows: number;
  seed: number;
  boxes?: number;
  /** The database is lost by each such blow. Default: each tenth. */
  failOverEvery?: number;
  fault?: Fault | undefined;
}): Promise<NodesResult> {
  const { boxes = 6, failOverEvery = 10 } = options;
  // What is struck comes again with the seed; when each box pages hangs on the machine.
  const random = seeded(options.seed);
  const chance = seeded(options.seed + 1);
  const story = new Story();
  const excuses: Excuse[] = [];
  const counted = Object.fromEntries(BLOWS.map((blow) => [blow, 0])) as Record<Blow, number>;
  try {
    await story.begin({ program: await spoilt(options.fault), boxes, random: chance });
    slowPushes(story.apns, chance);
    const broken = story.failed();
    broken.catch(() => {});
    for (let n = 1; n <= options.blows; n++) {
      await Promise.race([pause(random() * LATEST_BLOW_MS), broken]);
      const blow: Blow = n % failOverEvery === 0 ? "fail-over" : (BLOWS[blowOf(random())] as Blow);
      counted[blow]++;
      const from = performance.now();
      const on = await strike(story, blow, { random, isLong: n % 25 === 3 });
      if (on !== undefined) excuses.push({ from, until: performance.now(), node: on });
    }
    await story.drain();
    return { ...judge(story, excuses), blows: counted };
  } finally {
    await story.end();
  }
}

const blowOf = (chance: number): number =>
  [0.5, 0.7, 0.9].filter((bound) => chance >= bound).length;

/** One blow; what it fell on, where it excuses that a page that was under way there rings twice. */
async function strike(
  story: Story,
  blow: Blow,
  { random, isLong }: { random: () => number; isLong: boolean },
): Promise<Node | null | undefined> {
  const node = story.nodes[random() < 0.5 ? 0 : 1] as Node;
  switch (blow) {
    case "kill":
      await node.kill();
      await node.start();
      // The balancer finds both again, and those who waited ask again.
      story.balancer.cut();
      return node;
    case "pause": {
      const ms = isLong ? HOLD_MS + 2_000 : random() * 3_000;
      node.signal("SIGSTOP");
      await pause(ms);
      node.signal("SIGCONT");
      return isLong ? node : undefined;
    }
    case "database cut":
      story.database.cut();
      return undefined;
    case "box cut":
      story.balancer.cut();
      return undefined;
    case "fail-over": {
      const over = story.pair.failOver();
      await pause(50);
      story.database.cut();
      await over;
      return null;
    }
  }
}

/** Pushes take a while, so that blows fall into them. */
function slowPushes(apns: FakeApns, random: () => number): void {
  apns.otherwise({
    get delayMs() {
      const most = random() < 1 / SLOW_ONE_IN ? SLOW_PUSH_MS : PUSH_MS;
      return Math.round(random() * most);
    },
    status: 200,
  });
}

function judge(story: Story, excuses: readonly Excuse[]): Omit<NodesResult, "blows"> {
  const pushed = story.apns.received.filter(({ status }) => status === 200);
  const times = new Map<string, { at: number; by: Node | undefined }[]>();
  for (const { token, body, at, port } of pushed) {
    const key = `${token} ${String(body["alert_id"])}`;
    times.set(key, [...(times.get(key) ?? []), { at, by: story.pushers.get(port) }]);
  }
  const lost = story.pages.filter(({ device, alert }) => !times.has(`${device} ${alert}`));
  assert.deepEqual(
    lost.map(({ alert }) => alert),
    [],
    "every page that was answered was pushed",
  );
  const unreached = story.pages.filter(({ devices }) => devices !== 1);
  assert.deepEqual(
    unreached.map(({ alert }) => alert),
    [],
    "each answer counts the phone that rang",
  );
  let excused = 0;
  for (const [key, all] of times)
    for (const [i, { at }] of all.entries()) {
      const before = all[i - 1];
      if (before === undefined) continue;
      // It is the node that pushed first that must have died, or stood still, before it was noted.
      const isExcused = excuses.some(
        ({ from, until, node }) =>
          from <= at && until >= before.at && (node === null || node === before.by),
      );
      const apart = Math.round(at - before.at);
      assert.ok(isExcused, `${key} rang twice, ${apart} ms apart, for nothing`);
      excused++;
    }
  const took = story.pages.map(({ firstAt, answeredAt }) => (answeredAt ?? Infinity) - firstAt);
  return {
    ...{ pages: story.pages.length, beats: story.beats, pushes: pushed.length, excused },
    worst: Math.round(Math.max(...took)),
  };
}

/** The program, or one with a fault in it. */
async function spoilt(fault: Fault | undefined): Promise<string> {
  const program = await programFile();
  if (fault === undefined) return program;
  const [text, instead] = faults[fault] as readonly [string, string];
  const whole = readFileSync(program, "utf8");
  assert.equal(whole.split(text).length, 2, `the text of "${fault}" stands in the program once`);
  const spoilt = join(dirname(program), `spoilt-${process.pid}.cjs`);
  copyFileSync(program, spoilt);
  writeFileSync(
    spoilt,
    whole.replace(text, () => instead),
  );
  process.once("exit", () => rmSync(spoilt, { force: true }));
  return spoilt;
}

if (import.meta.main) {
  const [blows = 200, seed = 1] = process.argv.slice(2, 4).map(Number);
  const fault = process.argv[4] as Fault | undefined;
  const start = performance.now();
  const result = await nodesStory({ blows, seed, fault });
  const seconds = Math.round((performance.now() - start) / 1000);
  process.stdout.write(`${JSON.stringify({ seed, seconds, ...result })}\n`);
}
