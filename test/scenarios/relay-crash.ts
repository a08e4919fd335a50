/**
 * Kills the box and the hosted role, each a process of its own, in the middle of the relay story, again
 * and again, and counts what the phones got:
 *
 *     node test/scenarios/relay-crash.ts [kills, default 200] [seed, default 1]
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { atDesk } from "../../src/app/offline/desk.ts";
import { withHosted } from "../../src/app/offline/hosted.ts";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { type FakeApns, startFakeApns } from "../support/apns.ts";
import { ask } from "../support/hosted-role.ts";
import { programFile } from "../support/program.ts";
import { seeded } from "../support/seeded.ts";

const program = await programFile();
const deps = { clock: systemClock, random: systemRandom };
const LATEST_KILL_MS = 500;
const DRAIN_MS = 120_000;

export interface CrashResult {
  kills: { box: number; hosted: number };
  alerts: number;
  pushes: number;
  /** Pushes made twice, each over a kill of the hosted role between the two. */
  excused: number;
}

/** A role that can be killed and started again on the same directory and port. */
class Role {
  readonly #words: string[];
  #child: ChildProcess | null = null;
  url = "";

  constructor(words: string[]) {
    this.#words = words;
  }

  async start(): Promise<void> {
    const listen = this.url === "" ? "127.0.0.1:0" : new URL(this.url).host;
    const words = [program, ...this.#words, "--listen", listen, "--log-level", "fatal"];
    const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
    this.#child = child;
    this.url = await new Promise<string>((resolve, reject) => {
      let out = "";
      child.once("exit", (code) => reject(new Error(`${this.#words[0]} ended with ${code}`)));
      child.stdout.on("data", (data) => {
        out += data;
        const url = /listening on (\S+)/.exec(out)?.[1];
        if (url !== undefined) resolve(url);
      });
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGKILL");
    await gone;
  }
}

interface Person {
  token: string;
  accountId: string;
  key: string;
  device: string;
}

class Story {
  readonly apns: FakeApns;
  readonly box: Role;
  readonly hosted: Role;
  readonly boxData = mkdtempSync(join(tmpdir(), "box-crash-"));
  readonly hostedData = mkdtempSync(join(tmpdir(), "box-crash-hosted-"));
  tenantId = "";
  ingestToken = "";

  constructor(apns: FakeApns) {
    this.apns = apns;
    const free = ["--pair-rate", "0"];
    this.box = new Role(["serve", "--data", this.boxData, ...free]);
    this.hosted = new Role(["hosted", "serve", "--lab", "--data", this.hostedData, ...free]);
  }

  /** Both roles up, the push provider known, the first person paired, and a project that pages. */
  async begin(): Promise<Person> {
    await Promise.all([this.box.start(), this.hosted.start()]);
    const { apns, hostedData } = this;
    const [keyFile, ca] = [join(hostedData, "k.p8"), join(hostedData, "ca.pem")];
    writeFileSync(keyFile, apns.key);
    writeFileSync(ca, apns.ca);
    const { keyId, teamId, topic, endpoint } = apns;
    this.tenantId = await withHosted({ data: hostedData, ...deps }, async (desk) => {
      await desk.setApns({ keyFile, ca, keyId, teamId, topic, endpoint });
      return (await desk.addTenant({ kind: "box" })).tenant_id;
    });
    const { person, relay } = await this.arrive("ada");
    const post = (path: string, body: object) =>
      this.call(this.box, person.key, "POST", path, body);
    await this.call(this.box, person.key, "PUT", "/v1/relay", {
      relay_url: relay.relay_url,
      relay_secret: relay.relay_secret,
      hosted_tenant_id: this.tenantId,
      box_public_url: this.box.url,
    });
    await post("/v1/projects", { name: "shop" });
    await post("/v1/projects/shop/rules", { name: "any", identifier_keys: ["host"], max_open: 0 });
    this.ingestToken = (await post("/v1/projects/shop/sources", { name: "app" })).token;
    return person;
  }

  async arrive(name: string) {
    const email = `${name}@example.com`;
    const role = name === "ada" ? "owner" : "member";
    const seat = await atDesk({ data: this.boxData, ...deps }, "pair-code", { email, role });
    const { hostedData: data } = this;
    const session = await withHosted({ data, ...deps }, async (desk) => ({
      ...(await desk.addAccount(email)),
      ...(await desk.addSession(email)),
    }));
    const device = Buffer.from(name.padEnd(32, ".")).toString("hex");
    await this.call(this.hosted, session.token, "POST", "/v1/account/devices", {
      token: device,
      platform: "ios",
    });
    const seatBody = { code: seat.code, password: `${name}-password` };
    const seated = await this.call(this.box, null, "POST", "/v1/pair", seatBody);
    const path = `/v1/tenants/${this.tenantId}/pair`;
    const paired = await this.call(this.hosted, session.token, "POST", path, {
      box_account_id: seated.box_account_id,
      receipt: seated.receipt,
    });
    const person: Person = {
      token: session.token,
      accountId: session.account_id,
      key: seated.api_key,
      device,
    };
    return { person, relay: paired.relay };
  }

  /** Asks until there is an answer: whoever is killed while asked comes back. */
  async call(
    role: Role,
    token: string | null,
    method: string,
    path: string,
    body?: object,
    // biome-ignore lint/suspicious/noExplicitAny: as the route answers
  ): Promise<any> {
    for (;;) {
      const answer = await ask(role.url + path, {
        method,
        headers: token === null ? {} : { authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }).catch(() => null);
      if (answer !== null && answer.status < 300) return answer.body;
      if (answer !== null && answer.status < 500 && answer.status !== 429)
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      await pause(20);
    }
  }

  /** Opens one alert, whose only host this is. */
  fire(host: string): Promise<void> {
    const event = { message: "Disk is full", level: 400, keys: { host } };
    return this.call(this.box, this.ingestToken, "POST", "/v1/ingest", event);
  }

  async end(): Promise<void> {
    await Promise.all([this.box.kill(), this.hosted.kill()]);
    await this.apns.close();
    for (const data of [this.boxData, this.hostedData])
      rmSync(data, { recursive: true, force: true });
  }
}

/** Each kill falls at a random moment after an alert was asked for; throws where a promise was broken. */
export async function relayCrash(options: { kills: number; seed: number }): Promise<CrashResult> {
  const random = seeded(options.seed);
  const story = new Story(await startFakeApns());
  const counted: CrashResult = { kills: { box: 0, hosted: 0 }, alerts: 0, pushes: 0, excused: 0 };
  /** How many pushes had been looked at when the hosted role was killed. */
  const hostedKills: number[] = [];
  try {
    const ada = await story.begin();
    // The receipt is checked at the address that the box has announced by now.
    const [ben, cat] = [await patiently(story, "ben"), await patiently(story, "cat")];
    let unpairedAt = Number.POSITIVE_INFINITY;
    for (let n = 0; n < options.kills; n++) {
      if (n === Math.floor(options.kills / 2)) {
        const path = `/v1/tenants/${story.tenantId}/pairings/${cat.accountId}`;
        await story.call(story.hosted, ada.token, "DELETE", path);
        unpairedAt = story.apns.received.length;
      }
      const side = random() < 0.5 ? "box" : "hosted";
      const fired = story.fire(`host-${n}`);
      counted.alerts++;
      await pause(random() * LATEST_KILL_MS);
      await story[side].kill();
      if (side === "hosted") hostedKills.push(story.apns.received.length);
      counted.kills[side]++;
      await story[side].start();
      await fired;
    }
    const everyone = [ada.device, ben.device];
    await drained(story, everyone, counted.alerts);
    counted.pushes = story.apns.received.length;
    const late = story.apns.received.slice(unpairedAt).filter(({ token }) => token === cat.device);
    assert.equal(late.length, 0, "no push after an unpairing was answered");
    counted.excused = excusedDoubles(story.apns, hostedKills);
    return counted;
  } finally {
    await story.end();
  }
}

async function patiently(story: Story, name: string): Promise<Person> {
  for (let tries = 0; ; tries++) {
    const known = await announced(story);
    if (known) return (await story.arrive(name)).person;
    if (tries > 500) throw new Error("the box announced no address");
    await pause(20);
  }
}

async function announced(story: Story): Promise<boolean> {
  const { hostedData: data, tenantId } = story;
  return withHosted(
    { data, ...deps },
    async (desk) => (await desk.setTenant(tenantId, {})).boxUrl !== null,
  );
}

const shownBy = (apns: FakeApns) =>
  apns.received
    .map(({ token, body, status }, at) => ({ token, alert: String(body["alert_id"]), status, at }))
    .filter(({ status }) => status === 200);

/** Waits until every alert has been on every one of the phones. */
async function drained(story: Story, devices: readonly string[], alerts: number): Promise<void> {
  const start = performance.now();
  const missing = () => {
    const seen = new Set(shownBy(story.apns).map(({ token, alert }) => `${token} ${alert}`));
    const wanted = devices.flatMap((token) =>
      Array.from({ length: alerts }, (_, n) => `${token} ${n + 1}`),
    );
    return wanted.filter((one) => !seen.has(one));
  };
  while (missing().length > 0) {
    if (performance.now() - start > DRAIN_MS)
      throw new Error(`never pushed: ${missing().slice(0, 5).join(", ")}`);
    await pause(50);
  }
}

/** Doubles that a kill of the hosted role between the two pushes explains; throws for any other. */
function excusedDoubles(apns: FakeApns, hostedKills: readonly number[]): number {
  const first = new Map<string, number>();
  let excused = 0;
  for (const { token, alert, at } of shownBy(apns)) {
    const key = `${token} ${alert}`;
    const before = first.get(key);
    first.set(key, at);
    if (before === undefined) continue;
    assert.ok(
      hostedKills.some((kill) => kill > before && kill <= at),
      `${key} was pushed twice without a kill between`,
    );
    excused++;
  }
  return excused;
}

if (import.meta.main) {
  const [kills = 200, seed = 1] = process.argv.slice(2).map(Number);
  const start = performance.now();
  const result = await relayCrash({ kills, seed });
  const seconds = Math.round((performance.now() - start) / 1000);
  process.stdout.write(`${JSON.stringify({ seed, seconds, ...result })}\n`);
}
