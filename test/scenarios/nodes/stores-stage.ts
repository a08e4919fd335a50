import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { withHosted } from "../../../src/app/offline/hosted.ts";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { type Forwarder, startForwarder } from "../../support/forwarder.ts";
import { memoryOrTemp } from "../../support/memory.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { whoConnects } from "../../support/who-connects.ts";
import { Node } from "./node.ts";
import type { Ring } from "./rings.ts";
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

const NODE_NAMES = ["a", "b", "c", "d"];

/** Nodes with tenants of their own, whose people and senders know every one of them. */
export class StoresStage {
  readonly places: Place[] = [];
  readonly tenants: TenantPeople[] = [];
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
    const node = new Node(name, this.#options.program, words);
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
    return Promise.all(all).then(() => {});
  }

  quiet(): void {
    this.#over.abort();
  }

  /** A connection to the database as it is now. */
  async client(): Promise<pg.Client> {
    const { socket, database } = this.#options;
    const client = new pg.Client({ host: socket(), user: "box", database });
    await client.connect();
    return client;
  }

  async end(): Promise<void> {
    this.quiet();
    for (const { node } of this.places) await node.kill();
    for (const forwarder of this.#forwarders) await forwarder.close();
    await this.#receiver?.close();
    rmSync(this.#root, { recursive: true, force: true });
  }
}
