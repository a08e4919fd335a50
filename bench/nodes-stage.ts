import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { systemClock } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { fileSealer } from "../src/ground/kit/sealer.ts";
import { relayKeyPlace } from "../src/hosted/registry/relay-keys.ts";
import { type PostgresPair, startPostgresPair } from "../test/support/postgres-pair.ts";
import { type Child, start } from "./harness.ts";
import {
  type Apns,
  boxesAt,
  furnishRegistry,
  type Place,
  pairPhone,
  type RelayKey,
  serveHosted,
} from "./relay-load.ts";

export const CONNECTIONS = 256;
/** A box that beats needs a key of its own: of two beats with one key in a batch the second waits for the next. */
const BOXES = 1_024;

/** One hosted node on a registry of its own kind. */
export interface Node {
  place: Place;
  child: Child;
  url: string;
  /** The key of the one box that has a phone. */
  phone: RelayKey;
  boxes: ReturnType<typeof boxesAt>;
}

export interface Stage {
  apns: Apns;
  provider: Child;
  sqlite: Node;
  /** On a PostgreSQL that syncs, alone and with a synchronous standby. */
  alone: Node;
  paired: Node;
  /** The PostgreSQL of `alone`. */
  database: PostgresPair;
  /** Keys of boxes that every registry knows, for heartbeats. */
  keys: RelayKey[];
  /** Boxes that are watched, from the `from`th up to the `to`th, in the registry of `alone`. */
  fill(from: number, to: number): Promise<RelayKey[]>;
  /** One more node beside `alone`. */
  another(): Promise<Node>;
}

/** Everything syncs: the file of SQLite lies on the same disk as PostgreSQL's. All of it is gone after `use`. */
export async function withStage<T>(use: (stage: Stage) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), "box-bench-nodes-"));
  const stops: (() => unknown)[] = [() => rmSync(root, { recursive: true, force: true })];
  const hostedKey = join(root, "hosted.key");
  writeFileSync(hostedKey, randomBytes(32), { mode: 0o600 });
  const placeOf = (name: string, pair?: PostgresPair): Place => {
    const data = join(root, name);
    mkdirSync(data, { mode: 0o700 });
    return pair === undefined ? { data, hostedKey } : { data, hostedKey, database: urlOf(pair) };
  };
  const nodeAt = async (place: Place, who: { tid: string; token: string }, key?: RelayKey) => {
    const served = await serveHosted(place);
    const boxes = boxesAt(served.url, CONNECTIONS);
    stops.push(async () => {
      await boxes.close();
      await served.child.stop();
    });
    return { place, ...served, boxes, phone: key ?? (await pairPhone(served.url, who)) };
  };
  try {
    const provider = await start(process.execPath, ["bench/apns-server.ts"]);
    stops.push(() => provider.stop());
    const apns = JSON.parse(provider.line) as Apns;
    const [database, pair] = [
      await startPostgresPair({ standby: false }),
      await startPostgresPair(),
    ];
    stops.splice(
      1,
      0,
      () => database.stop(),
      () => pair.stop(),
    );
    const made = madeBoxes(root, 0, BOXES);
    const nodes: Node[] = [];
    let who = { tid: "", token: "" };
    for (const place of [placeOf("sqlite"), placeOf("paired", pair), placeOf("one", database)]) {
      who = await furnishRegistry(place, apns);
      await (place.database === undefined ? intoFile(place.data, made) : intoDatabase(place, made));
      nodes.push(await nodeAt(place, who));
    }
    const [sqlite, paired, alone] = nodes as [Node, Node, Node];
    return await use({
      apns,
      provider,
      sqlite,
      alone,
      paired,
      database,
      keys: made.map(({ key }) => key),
      async fill(from, to) {
        const more = madeBoxes(root, from, to);
        for (let at = 0; at < more.length; at += 10_000)
          await intoDatabase(alone.place, more.slice(at, at + 10_000));
        return more.map(({ key }) => key);
      },
      another: () => nodeAt(placeOf("two", database), who, alone.phone),
    });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

const urlOf = (pair: PostgresPair) => `postgres://box@${encodeURIComponent(pair.socket())}/box`;

interface MadeBox {
  tenant: string;
  key: RelayKey;
  sealed: string;
}

/** All with one secret, each sealed for its own key. */
function madeBoxes(root: string, from: number, to: number): MadeBox[] {
  const about = { inUse: [], clock: systemClock, random: systemRandom };
  const sealer = fileSealer({ dir: root, name: "hosted.key", ...about });
  const secret = "s".repeat(43);
  return Array.from({ length: to - from }, (_, n) => {
    const id = (from + n).toString(16).padStart(16, "0");
    const key = { relay_key_id: `rk_${id}`, relay_secret: secret };
    const sealed = sealer.seal(secret, relayKeyPlace(key.relay_key_id));
    return { tenant: `t_${id}`, key, sealed };
  });
}

function intoFile(data: string, boxes: readonly MadeBox[]): void {
  const file = new Database(join(data, "hosted.db"));
  const tenant = file.prepare(
    "INSERT INTO tenants (id, kind, plan, watch_seconds, created_at) VALUES (?, 'box', 'free', 86400, unixepoch())",
  );
  const key = file.prepare(
    "INSERT INTO relay_keys (id, tenant_id, sealed, created_at) VALUES (?, ?, ?, unixepoch())",
  );
  file.transaction(() => {
    for (const box of boxes) {
      tenant.run(box.tenant);
      key.run(box.key.relay_key_id, box.tenant, box.sealed);
    }
  })();
  file.close();
}

/** Each was heard this moment. */
async function intoDatabase({ database = "" }: Place, boxes: readonly MadeBox[]): Promise<void> {
  const { hostname } = new URL(database);
  const client = new pg.Client({
    host: decodeURIComponent(hostname),
    user: "box",
    database: "box",
  });
  await client.connect();
  const tenants = boxes.map(({ tenant }) => tenant);
  await client.query(
    `INSERT INTO tenants (id, kind, plan, watch_seconds)
     SELECT id, 'box', 'free', 86400 FROM unnest($1::text[]) AS a(id)`,
    [tenants],
  );
  await client.query(
    `INSERT INTO relay_keys (id, tenant_id, sealed)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[])`,
    [boxes.map(({ key }) => key.relay_key_id), tenants, boxes.map(({ sealed }) => sealed)],
  );
  await client.query(
    "INSERT INTO heartbeats (tenant_id, stamp, planned) SELECT id, 0, false FROM unnest($1::text[]) AS a(id)",
    [tenants],
  );
  await client.end();
}
