import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { withHosted } from "../../../src/app/offline/hosted.ts";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { type Forwarder, startForwarder } from "../../support/forwarder.ts";
import { memoryOrTemp } from "../../support/memory.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { whoConnects } from "../../support/who-connects.ts";
import { Node } from "./node.ts";
import type { Fallen, Ring, Taking } from "./rings.ts";
import { TenantPeople } from "./tenant-people.ts";

/** A node and its way to the database. */
export interface Place {
  node: Node;
  /** Ends its connections to the database. */
  cut(): void;
  /** Whether it reaches the database from now on. */
  reach(isReached: boolean): void;
}

export interface StageOptions {
  program: string;
  /** The directory of the database's socket, as it is now. */
  socket(): string;
  database: string;
  nodes: number;
  tenants: number;
}

/** By no code of the program: a row for each process that has a store after another. */
const WATCH_TAKINGS = `
  CREATE TABLE takings (tenant text, by text, "from" text, was_left boolean, alive_until timestamptz, at timestamptz);
  CREATE FUNCTION note_taking() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO takings VALUES (OLD.tenant_id, NEW.node, OLD.node, OLD.clean, OLD.alive_until, clock_timestamp());
      RETURN NULL;
    END $$;
  CREATE TRIGGER taken AFTER UPDATE ON tenant_stores FOR EACH ROW WHEN (NEW.run <> OLD.run)
    EXECUTE FUNCTION note_taking()`;
/** In milliseconds from $1, by the clock that everybody here has. */
const msOf = (time: string) => `extract(epoch FROM ${time})::float8 * 1000 - $1 AS`;
const TAKINGS = `SELECT tenant, by, "from", was_left AS "wasLeft", ${msOf("alive_until")} "aliveUntil", ${msOf("at")} at
  FROM takings ORDER BY at`;
/** A node that loses a tenant says so some seconds before another one takes it, or as long after as it stood still. */
const LOSS_MS = 30_000;

/** The tenants that a node lost, by its own word. */
function lossesOf({ name, everSaid }: Node) {
  return everSaid
    .split("\n")
    .filter((line) => line.includes("has a tenant no longer"))
    .map((line) => JSON.parse(line) as { time: string; tenant: string; why: string })
    .map(({ time, tenant, why }) => ({
      node: name,
      tenant,
      why,
      at: new Date(time).getTime() - performance.timeOrigin,
    }));
}

const WATCH_MS = 250;
const SLOW_MS = 1_500;

const NODE_NAMES = ["a", "b", "c", "d"];

/** Nodes with tenants of their own, whose people and senders know every one of them. */
export class StoresStage {
  readonly places: Place[] = [];
  readonly tenants: TenantPeople[] = [];
  /** When the machine itself was slow: a node may be late then without a blow. */
  readonly slow: Fallen[] = [];
  readonly #root = mkdtempSync(join(memoryOrTemp(), "box-nodes-stores-"));
  readonly #options: StageOptions;
  readonly #over = new AbortController();
  readonly #at = new WeakMap<object, Node | undefined>();
  readonly #forwarders: Forwarder[] = [];
  readonly #tokens: string[] = [];
  #desk = { database: "", hostedKey: "" };
  #receiver: Receiver | null = null;

  constructor(options: StageOptions) {
    this.#options = options;
  }

  async begin(): Promise<void> {
    const hostedKey = join(this.#root, "hosted.key");
    writeFileSync(hostedKey, randomBytes(32), { mode: 0o600 });
    const receiver = await startReceiver();
    this.#receiver = receiver;
    receiver.always((response, socket, { body }) => {
      const { event, alert_id: id, identifiers } = JSON.parse(body);
      if (event === "alert.opened") {
        const ring = { at: performance.now(), by: this.#whose(socket) };
        this.#rang(String(identifiers.n), String(id), ring);
      }
      response.writeHead(204).end();
    });
    for (const name of NODE_NAMES.slice(0, this.#options.nodes)) await this.#place(name, hostedKey);
    this.#desk = { database: (await this.#way(() => true)).url, hostedKey };
    await this.#watchTakings();
    for (let place = 0; place < this.#options.tenants; place++) {
      const id = await this.#byDesk(
        async (desk) => (await desk.addTenant({ kind: "hosted" })).tenant_id,
      );
      const key = await this.addKey(id);
      const of = { id, key, place };
      const tenant = new TenantPeople(of, (turn) => this.#url(turn), this.#over.signal);
      this.tenants.push(tenant);
      this.#tokens.push(await tenant.settle(receiver.url));
    }
  }

  /** A key that the operator adds. */
  addKey(tenant: string): Promise<string> {
    return this.#byDesk(
      async (desk) => (await desk.addKey({ tenant, email: "ada@example.com" })).api_key,
    );
  }

  #byDesk<T>(use: Parameters<typeof withHosted<T>>[1]): Promise<T> {
    const deps = { data: this.#root, clock: systemClock, random: systemRandom };
    return withHosted({ ...this.#desk, ...deps }, use);
  }

  async #way(isReached: () => boolean): Promise<{ url: string; forwarder: Forwarder }> {
    const forwarder = await startForwarder(() =>
      isReached() ? [{ path: join(this.#options.socket(), ".s.PGSQL.5432") }] : [],
    );
    this.#forwarders.push(forwarder);
    const url = `postgres://box@127.0.0.1:${forwarder.port}/${this.#options.database}?sslmode=disable`;
    return { url, forwarder };
  }

  async #place(name: string, hostedKey: string): Promise<void> {
    let isReached = true;
    const { url, forwarder } = await this.#way(() => isReached);
    const where = ["--data", join(this.#root, name), "--database", url, "--hosted-key", hostedKey];
    const link = ["--cluster-listen", "127.0.0.1:0", "--drain-seconds", "0", "--node", name];
    const words = ["hosted", "serve", ...where, ...link, "--egress-allow", "127.0.0.0/8"];
    const node = new Node(name, this.#options.program, words, "warn");
    const reach = (may: boolean) => {
      isReached = may;
      if (!may) forwarder.cut();
    };
    this.places.push({ node, reach, cut: () => forwarder.cut() });
    await node.start();
  }

  #url(turn: number): string {
    return `http://127.0.0.1:${this.places[turn % this.places.length]?.node.port}`;
  }

  #whose(socket: { remotePort?: number | undefined }): Node | undefined {
    if (this.#at.has(socket)) return this.#at.get(socket);
    const pids = this.places.map(({ node }) => node.pid);
    const pid = whoConnects(socket.remotePort ?? 0, pids);
    const found = this.places.find(({ node }) => node.pid === pid)?.node;
    this.#at.set(socket, found);
    return found;
  }

  #rang(n: string, id: string, ring: Ring): void {
    this.tenants[Number(n.split("-")[0])]?.ledger.rang(n, id, ring);
  }

  /** Everybody does what they do, until `quiet`. Resolves once nobody does any more. */
  run({ sendEveryMs, useEveryMs }: { sendEveryMs: number; useEveryMs: number }): Promise<void> {
    const all = this.tenants.flatMap((tenant, at) => [
      tenant.send(this.#tokens[at] ?? "", sendEveryMs),
      tenant.send(this.#tokens[at] ?? "", sendEveryMs),
      tenant.use(useEveryMs),
      tenant.follow(),
    ]);
    return Promise.all([...all, this.#watchMachine()]).then(() => {});
  }

  /** Nobody but the machine keeps this one from an answer. */
  async #watchMachine(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const from = performance.now();
      await pause(WATCH_MS);
      const client = await this.client().catch(() => null);
      await client?.query("SELECT 1").catch(() => {});
      await client?.end().catch(() => {});
      const until = performance.now();
      const blow = "a slow machine";
      if (until - from > SLOW_MS) this.slow.push({ blow, from, until, node: null });
    }
  }

  quiet(): void {
    this.#over.abort();
  }

  /** A connection to the database as it is now. */
  async client(): Promise<pg.Client> {
    const { socket, database } = this.#options;
    const client = new pg.Client({ host: socket(), user: "box", database });
    // Whoever asks it then, is told.
    client.on("error", () => {});
    await client.connect();
    return client;
  }

  async #watchTakings(): Promise<void> {
    const client = await this.client();
    await client.query(WATCH_TAKINGS).finally(() => client.end());
  }

  /** Whoever took a tenant from whom, and what that one said. */
  async takings(client: pg.Client): Promise<Taking[]> {
    const { rows } = await client.query<Omit<Taking, "said">>(TAKINGS, [performance.timeOrigin]);
    const losses = this.places.flatMap(({ node }) => lossesOf(node));
    return rows.map((row) => {
      const said = losses.find(
        ({ node, tenant, at }) =>
          node === row.from && tenant === row.tenant && Math.abs(at - row.at) < LOSS_MS,
      );
      return { ...row, said: said?.why ?? null };
    });
  }

  async end(): Promise<void> {
    this.quiet();
    for (const { node } of this.places) await node.kill();
    for (const forwarder of this.#forwarders) await forwarder.close();
    await this.#receiver?.close();
    rmSync(this.#root, { recursive: true, force: true });
  }
}
