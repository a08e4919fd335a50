import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { blocks, root } from "../project/document.ts";
import { needs } from "../support/commands.ts";
import { program } from "../support/program.ts";
import { type Host, Lan, noLan } from "./lan.ts";

/*
 * "A box on two machines" of docs/machines.md, block by block as it stands there, on machines of namespaces: two for the
 * box, two databases, HAProxy, one that is paged, and one that sends. Then both are upgraded and get a new key, cables are
 * pulled, and machines lose power. BOX_BEFORE: the words that start the release before, with which they begin.
 */

const { debianPackage } = await import(join(root, "systemd/deb.mjs"));

/** How long neither machine reaches the database, and how long every other cut lasts. */
const MINUTES_CUT = Number(process.env["MINUTES_CUT"] ?? 0.5);
const CUT_MS = 25_000;
const PATIENCE_MS = 60_000;
const WALK_MS = 5_000;
/** No event is refused for longer while both are upgraded. */
const REFUSED_MS = 3_000;
const PHONE = `require("node:http").createServer((request, response) => {
  let body = "";
  request.on("data", (part) => { body += part; });
  request.on("end", () => {
    response.writeHead(204).end();
    const { event, alert_id, identifiers } = JSON.parse(body);
    const page = { id: alert_id, n: identifiers?.host, at: Date.now() };
    if (event === "alert.opened") console.log(JSON.stringify(page));
  });
}).listen(9000, "0.0.0.0");`;

interface Page {
  id: string;
  n: string;
  at: number;
}

/** What a sender says of an event; without `answered`, it was a datagram. */
interface Sent {
  n: string;
  sent: number;
  answered?: number;
  refused?: string[];
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    assert.ok(performance.now() < end, `it never happens that ${what}`);
    await pause(100);
  }
}

const lan = new Lan();
const children: ChildProcess[] = [];
const pages: Page[] = [];
const sent: Sent[] = [];

/** A program's package, made quickly: it is compressed little. */
async function packaged(words: readonly string[], version: string): Promise<void> {
  const box =
    words.length === 1
      ? readFileSync(words[0] as string)
      : Buffer.from(`#!/bin/sh\nexec ${words.join(" ")} "$@"\n`);
  const compress = (input: Buffer) =>
    spawnSync("xz", ["-0", "-c"], { input, maxBuffer: 2 ** 30 }).stdout;
  const about = { root, box, completion: "", texts: {}, version, arch: "x64", time: 0 };
  const { bytes } = await debianPackage({ ...about, compress });
  writeFileSync(join(lan.dir, `post/box_${version}_amd64.deb`), bytes);
}

const [BEFORE, NEXT] = ["1.0.0", "1.0.1"];
const INSTALL = `dpkg -i /post/box_${BEFORE}_amd64.deb`;

interface World {
  db1: Host;
  db2: Host;
  one: Host;
  two: Host;
  balancer: Host;
  phone: Host;
  sender: Host;
  token: string;
}

/** Everything that the document says, on machines that have Debian and nothing else. */
async function stepByStep(): Promise<World> {
  await lan.begin();
  const now = await program();
  await packaged(process.env["BOX_BEFORE"]?.split(" ") ?? now, BEFORE);
  await packaged(now, NEXT);
  const config = readFileSync(join(root, "systemd/haproxy-box.cfg"), "utf8");
  writeFileSync(join(lan.dir, "post/haproxy-box.cfg"), config);
  const [db1, db2] = [await lan.host("db1", "10.0.0.21"), await lan.host("db2", "10.0.0.22")];
  const [one, two] = [await lan.host("one", "10.0.0.11"), await lan.host("two", "10.0.0.12")];
  const balancer = await lan.host("balancer", "10.0.0.10");
  const [phone, sender] = [
    await lan.host("phone", "10.0.0.30"),
    await lan.host("sender", "10.0.0.40"),
  ];
  children.push(startIn(phone, process.execPath, "-e", PHONE));
  keep(children[0] as ChildProcess, pages);

  const [first = "", standby = "", waits = ""] = blocks(
    "docs/hosted.md",
    "bash",
    "### Step by step",
  );
  for (const db of [db1, db2]) await db.run("systemctl start postgresql");
  await db1.run(first);
  await db2.run(standby);
  await db1.run(waits);

  const steps = blocks("docs/machines.md", "bash", "## Step by step");
  assert.equal(steps.length, 6 + 5);
  const [active = "", send = "", noBox = "", second = "", address = "", account = ""] = steps;
  await one.run(INSTALL);
  assert.match(await one.run(active), /"role":"owner"/);
  await one.run(send);
  await two.run(noBox);
  await two.run(INSTALL);
  assert.match(await two.run(`cp /post/box.tar .; ${second}`), /"role":"standby"/);
  assert.match(await balancer.run(`cp /post/haproxy-box.cfg .; ${address}`), /"status":"/);
  // HAProxy looks who serves.
  await pause(2_000);
  const said = await two.run(`${account}\necho "$TOKEN"`);
  assert.match(said, /by way of 10\.0\.0\.11/);
  assert.match(said, /by way of 10\.0\.0\.12/);
  await until("both alerts come", () => pages.length >= 2);
  return {
    db1,
    db2,
    one,
    two,
    balancer,
    phone,
    sender,
    token: said.trim().split("\n").at(-1) ?? "",
  };
}

function startIn(host: Host, ...program: string[]): ChildProcess {
  const [word, ...words] = host.words(...program);
  return spawn(word, words, { stdio: ["ignore", "pipe", "inherit"] });
}

/** Keeps the lines that a program prints. */
function keep<Line>(child: ChildProcess, lines: Line[]): void {
  let rest = "";
  child.stdout?.on("data", (data) => {
    const all = (rest + data).split("\n");
    rest = all.pop() ?? "";
    for (const line of all) lines.push(JSON.parse(line));
  });
}

/** What a machine says of itself: by a connection of its own, from one that is neither. */
async function role({ sender }: World, host: Host): Promise<string> {
  const said = await sender.run(`curl -s -m 2 http://${host.address}:8080/v1/role || true`);
  return said === "" ? "" : JSON.parse(said).role;
}

const isRole = (world: World, host: Host, name: string) => async () =>
  (await role(world, host)) === name;

/** Which is active, and which stands by, once they know: whoever is restarted may be back before the other took the box. */
async function placesOf(world: World): Promise<[active: Host, other: Host]> {
  const { one, two } = world;
  let roles = "";
  await until("they know who serves", async () => {
    roles = `${await role(world, one)},${await role(world, two)}`;
    return roles === "owner,standby" || roles === "standby,owner";
  });
  return roles.startsWith("owner") ? [one, two] : [two, one];
}

/** Ports for datagrams, and a rule that opens an alert for each event; the standby is restarted first. */
async function withSenders(world: World): Promise<void> {
  const { one, two, sender, token } = world;
  const url = "export BOX_URL=http://10.0.0.10:8080";
  await two.run(`${url}; box source add shop net --kind syslog
    box rule set shop - <<< '{"name": "errors", "match": {"min_level": 400}, "identifier_keys": ["host"], "max_open": 0}'`);
  for (const host of [two, one]) {
    await host.run(`echo "BOX_SYSLOG_UDP=${host.address}:5514=shop/net
BOX_ALLOW_FROM=10.0.0.0/24" >>/etc/box/box.env`);
    await host.run("systemctl restart box");
  }
  await placesOf(world);
  const script = join(import.meta.dirname, "lan-senders.mjs");
  const urls = [world.balancer, one, two].map(({ address }) => `http://${address}:8080`).join();
  const ports = [one, two].map(({ address }) => `${address}:5514`).join();
  const child = startIn(sender, process.execPath, script, token, urls, ports);
  children.push(child);
  keep(child, sent);
}

/** One fault after the other, and what is seen outside. */
class Faults {
  readonly #world: World;
  readonly #say: (line: string) => void;
  active: Host;
  other: Host;
  /** Datagrams to machines that lived all the time. */
  readonly kept: Sent[] = [];

  constructor(world: World, say: (line: string) => void) {
    this.#world = world;
    this.#say = say;
    [this.active, this.other] = [world.one, world.two];
  }

  is(host: Host, name: string): Promise<void> {
    return until(`${host.name} is ${name}`, isRole(this.#world, host, name));
  }

  /** Each of them serves in the other's place, or as it did. */
  async knowPlaces(): Promise<void> {
    [this.active, this.other] = await placesOf(this.#world);
  }

  /** The document's addresses are so. */
  async beginAsWritten(): Promise<void> {
    if (this.active === this.#world.one) return;
    await this.active.run("systemctl stop box");
    await this.is(this.other, "owner");
    await this.active.run("systemctl start box");
    await this.knowPlaces();
  }

  /** They have changed places. */
  async haveSwapped(): Promise<void> {
    await this.is(this.active, "standby");
    [this.active, this.other] = [this.other, this.active];
    assert.equal(await role(this.#world, this.active), "owner");
  }

  /** Strikes, waits for the page of an event that is sent from now on, and runs what follows. `ends`: a process ends. */
  async fault(
    what: string,
    strike: () => unknown,
    follow: () => Promise<unknown>,
    { ends = false } = {},
  ): Promise<Sent[]> {
    await pause(3_000);
    const [begun, from] = [sent.length, Date.now()];
    await strike();
    const rung = () => pages.filter(({ n }) => sent.some((one) => one.n === n && one.sent > from));
    await until("a page rings", () => rung().length > 0);
    const first = (pages.find(({ n }) => n === rung()[0]?.n)?.at ?? from) - from;
    await follow();
    const [healed, over] = [sent.length, Date.now()];
    await until("everybody is answered", () => {
      const all = sent.slice(healed).filter(({ answered }) => answered !== undefined);
      return new Set(all.map(({ n }) => n.split("-")[0])).size === 2;
    });
    const some = sent.slice(begun).filter((one) => one.sent < over);
    await until("everything rings", () => unrung(some).length === 0);
    if (!ends) this.kept.push(...some.filter(isDatagram));
    this.#say(`${what}: a page after ${seconds(first)}; ${seen(some)}`);
    return some;
  }
}

/** What became of events. */
function seen(some: readonly Sent[]): string {
  // The first time.
  const rings = new Map(pages.toReversed().map(({ n, at }) => [n, at]));
  const names = new Set(some.map(({ n }) => n));
  const [datagrams, events] = [isDatagram, (one: Sent) => !isDatagram(one)].map((isOne) =>
    some.filter(isOne),
  ) as [Sent[], Sent[]];
  const slowest = Math.max(...some.map(({ n, sent: at }) => (rings.get(n) ?? at) - at));
  const longest = (way: string) =>
    seconds(
      Math.max(
        ...events
          .filter(({ n }) => n.startsWith(way))
          .map(({ sent: at, answered = at }) => answered - at),
      ),
    );
  const late = datagrams.filter(({ n }) => !rings.has(n)).map(({ n }) => n.split("-")[2] ?? "");
  const rang = pages.filter(({ n }) => names.has(n)).map(({ n }) => n);
  return [
    `the slowest took ${seconds(slowest)}`,
    `longest wait for a 202 ${longest("balancer")} by HAProxy, ${longest("machines")} by the machines`,
    `refused: ${counted(events.flatMap(({ refused = [] }) => refused))}`,
    `of ${datagrams.length} datagrams not yet heard: ${counted(late)}`,
    `${rang.length - new Set(rang).size} of ${rang.length} pages twice`,
  ].join("; ");
}

const isDatagram = ({ n }: Sent) => n.startsWith("udp");
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** Those that were answered and have not rung. */
function unrung(some: readonly Sent[]): Sent[] {
  const rung = new Set(pages.map(({ n }) => n));
  return some.filter(({ n, answered }) => answered !== undefined && !rung.has(n));
}

/** How often each of them. */
function counted(all: readonly string[]): string {
  const groups = [...Map.groupBy(all, (one) => one)];
  return groups.map(([one, { length }]) => `${one} ${length}`).join(", ") || "none";
}

const ENDS = { ends: true };
const CLUSTER = "/etc/postgresql/15/main";
const skip =
  noLan() ||
  needs("haproxy", "xz", "curl", "dpkg", "pg_ctlcluster").skip ||
  (!existsSync(CLUSTER) && `no ${CLUSTER}`);

describe("a box on two machines, by the document alone", { skip }, () => {
  after(async () => {
    for (const child of children) child.kill("SIGKILL");
    await lan.end();
  });

  test("from empty machines to a page, and what a lost machine or cable does", async (t) => {
    const world = await stepByStep();
    const { one, two, db1, db2 } = world;
    await withSenders(world);
    const all = new Faults(world, (line) => t.diagnostic(line));
    await all.knowPlaces();
    const work = blocks("docs/machines.md", "bash", "## Work on both machines");
    const cut = (hosts: readonly Host[], isCut: boolean) => {
      for (const host of hosts) for (const db of [db1, db2]) host.cut(db, isCut);
    };
    const start = "systemctl start box";

    let acked = "";
    const faults: Record<string, () => Promise<unknown>> = {
      async upgrade() {
        await all.beginAsWritten();
        const fetched = `cp /post/box_${NEXT}_amd64.deb .; `;
        const some = await all.fault(
          "both upgraded",
          async () => {
            await two.run(fetched + work[0]);
            await one.run(fetched + work[1]);
          },
          () => all.knowPlaces(),
          ENDS,
        );
        for (const host of [one, two])
          assert.match(await host.run("dpkg -s box"), new RegExp(`^Version: ${NEXT}$`, "m"));
        const waits = some.map(({ sent: at, answered = at }) => answered - at);
        assert.ok(Math.max(...waits) <= REFUSED_MS, "an event had to wait for longer");
      },
      async key() {
        await all.beginAsWritten();
        await all.fault(
          "a new key",
          async () => {
            await two.run(work[2] ?? "");
            // As somebody who walks from the one to the other.
            await pause(WALK_MS);
            assert.match(await one.run(work[3] ?? ""), /^key [0-9a-f]+: [1-9]\d* values sealed/m);
            await two.run(`cp /post/box.tar .; ${work[4]}`);
          },
          () => all.is(two, "standby"),
          ENDS,
        );
      },
      stop: () =>
        all.fault(
          "stopped",
          () => all.active.run("systemctl stop box"),
          async () => {
            await all.is(all.other, "owner");
            await all.active.run(start);
            await all.haveSwapped();
          },
          ENDS,
        ),
      kill: () =>
        all.fault(
          "killed, and started again",
          () => all.active.run("kill -9 $(cat /run/box.pid)"),
          async () => {
            await all.is(all.active, "owner");
            assert.equal(await role(world, all.other), "standby");
          },
          ENDS,
        ),
      power: () =>
        all.fault(
          "power off",
          () => all.active.powerOff(),
          async () => {
            await all.is(all.other, "owner");
            await all.active.powerOn();
            await all.active.run(start);
            await all.haveSwapped();
          },
          ENDS,
        ),
      link: () =>
        all.fault(
          "the link cut",
          () => one.cut(two, true),
          async () => {
            await pause(CUT_MS);
            assert.equal(await role(world, all.active), "owner");
            one.cut(two, false);
          },
        ),
      standby: () =>
        all.fault(
          "the database cut from the standby",
          () => cut([all.other], true),
          async () => {
            await pause(CUT_MS);
            assert.equal(await role(world, all.active), "owner");
            cut([all.other], false);
          },
        ),
      active: () =>
        all.fault(
          "the database cut from the active machine",
          () => cut([all.active], true),
          async () => {
            await all.is(all.other, "owner");
            assert.equal(await role(world, all.active), "alone");
            await pause(CUT_MS);
            cut([all.active], false);
            await all.haveSwapped();
          },
          ENDS,
        ),
      both: () =>
        all.fault(
          `the database cut from both for ${MINUTES_CUT} min`,
          () => cut([one, two], true),
          async () => {
            await all.is(all.active, "alone");
            acked = pages.at(-1)?.id ?? "";
            await two.run(`BOX_URL=http://10.0.0.10:8080 box ack ${acked}`);
            await pause(MINUTES_CUT * 60_000);
            cut([one, two], false);
            await all.is(all.active, "owner");
          },
        ),
      database: () =>
        all.fault(
          "the database fails over",
          async () => {
            await db1.powerOff();
            await db2.run(blocks("docs/hosted.md", "bash", "### Step by step")[7] ?? "");
          },
          () => all.is(all.active, "owner"),
        ),
    };
    for (const name of (process.env["FAULTS"] ?? Object.keys(faults).join()).split(","))
      await faults[name]?.();
    children.at(-1)?.kill("SIGKILL");
    const lost = () => all.kept.filter(({ n }) => !pages.some((page) => page.n === n));
    await until("each datagram to a machine that lived rings", () => lost().length === 0);
    await all.active.run("systemctl stop box");
    await all.is(all.other, "owner");
    // What was done while nobody reached the database holds at the other machine, too.
    const read = `BOX_URL=http://10.0.0.10:8080 box api GET /v1/alerts/${acked}`;
    if (acked !== "") assert.equal(JSON.parse(await two.run(read)).state, "acknowledged");
    const ids = new Map(pages.map(({ id, n }) => [id, n]));
    for (const { id, n } of pages)
      assert.equal(ids.get(id), n, `alert ${id} was two alerts outside`);
  });
});
