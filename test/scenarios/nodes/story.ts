import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type FakeApns, startFakeApns } from "../../support/apns.ts";
import { type Forwarder, startForwarder } from "../../support/forwarder.ts";
import { ask } from "../../support/hosted-role.ts";
import { programFile } from "../../support/program.ts";
import { whoConnects } from "../../support/who-connects.ts";
import { type Box, Boxes } from "./boxes.ts";
import { type Desk, deskBy, deskHere } from "./desk.ts";
import { Node } from "./node.ts";

const LOOK_MS = 100;

export interface StoryOptions {
  /** What the nodes run at first. */
  program: string;
  /** The database's, as every node is told it. */
  database: string;
  boxes: number;
  random: () => number;
  /** More words of `box hosted serve`. */
  more?: readonly string[];
  /** Only nodes that say that they are ready are sent to, as by a load balancer that looks. Default: any that listens. */
  onlyReady?: boolean;
}

/** Two nodes on one database, a push provider, a load balancer, and boxes with a phone each. */
export class Story {
  readonly root = mkdtempSync(join(tmpdir(), "box-nodes-"));
  readonly nodes: Node[] = [];
  readonly boxes: Boxes;
  readonly #options: StoryOptions;
  readonly #key: string;
  #unready = new Set<Node>();
  #isOver = false;
  /** Where boxes ask. */
  url = "";
  balancer!: Forwarder;
  apns!: FakeApns;

  constructor(options: StoryOptions) {
    this.#options = options;
    this.#key = join(this.root, "hosted.key");
    this.boxes = new Boxes(() => this.url, options.random);
  }

  /** Nodes serve; nobody says anything yet. The boxes. */
  async begin(): Promise<Box[]> {
    const { onlyReady = false, boxes } = this.#options;
    this.apns = await startFakeApns({ onConnection: (port) => this.#connected(port) });
    writeFileSync(this.#key, randomBytes(32), { mode: 0o600 });
    for (const name of ["one", "two"]) this.nodes.push(this.#node(name));
    for (const node of this.nodes) await node.start();
    this.balancer = await startForwarder(() =>
      this.nodes
        .filter((node) => !this.#unready.has(node))
        .map(({ port }) => ({ host: "127.0.0.1", port })),
    );
    this.url = `http://127.0.0.1:${this.balancer.port}`;
    if (onlyReady) void this.#look();
    return this.#setUp(boxes);
  }

  #node(name: string): Node {
    const { program, database, more = [] } = this.#options;
    const data = join(this.root, name);
    mkdirSync(data, { mode: 0o700 });
    const where = ["--data", data, "--database", database, "--hosted-key", this.#key];
    const how = ["--node", name, "--relay-rate", "0", "--lab", ...more];
    return new Node(name, program, ["hosted", "serve", ...where, ...how]);
  }

  /** Whose a connection to the push provider is; undefined: the node is gone already. */
  #connected(port: number): Node | undefined {
    const pid = whoConnects(
      port,
      this.nodes.map((node) => node.pid),
    );
    return this.nodes.find((one) => one.pid === pid);
  }

  async #look(): Promise<void> {
    while (!this.#isOver) {
      for (const node of this.nodes)
        if (await node.isReady()) this.#unready.delete(node);
        else this.#unready.add(node);
      await pause(LOOK_MS);
    }
  }

  /** Asks the operator's commands for what boxes need; a program of another release is asked itself, for it knows its schema. */
  async #desk(): Promise<Desk> {
    const { program, database } = this.#options;
    if (program === (await programFile())) return deskHere(database, this.#key);
    return deskBy(program, ["--database", database, "--hosted-key", this.#key]);
  }

  async #setUp(boxes: number): Promise<Box[]> {
    const { apns } = this;
    const [keyFile, ca] = [join(this.root, "k.p8"), join(this.root, "ca.pem")];
    writeFileSync(keyFile, apns.key);
    writeFileSync(ca, apns.ca);
    const { keyId, teamId, topic, endpoint } = apns;
    const desk = await this.#desk();
    await desk.setApns({ keyFile, ca, keyId, teamId, topic, endpoint });
    return Promise.all(Array.from({ length: boxes }, (_, n) => this.#pair(desk, `p${n}`)));
  }

  /** A tenant with one person and their phone: the first pairing needs no receipt, and is given the relay's key. */
  async #pair(desk: Desk, name: string): Promise<Box> {
    const email = `${name}@example.com`;
    const { tenant_id: tenant } = await desk.addTenant({ kind: "box" });
    await desk.addAccount(email);
    const { token } = await desk.addSession(email);
    const device = Buffer.from(name.padEnd(32, ".")).toString("hex");
    const call = async (path: string, body: object) => {
      const answer = await ask(this.url + path, {
        method: "POST",
        body: JSON.stringify(body),
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

  async end(): Promise<void> {
    this.#isOver = true;
    this.boxes.isOver = true;
    for (const node of this.nodes) await node.kill();
    await this.balancer?.close();
    await this.apns?.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}
