import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { sleep, systemClock } from "../../src/ground/kit/clock.ts";
import { hexId } from "../../src/ground/kit/ids.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { type Database, openDatabase } from "../../src/hosted/registry/postgres/connect.ts";
import {
  type DatabaseUrl,
  readDatabaseUrl,
} from "../../src/hosted/registry/postgres/database-url.ts";
import { migrateDatabase } from "../../src/hosted/registry/postgres/migrate.ts";

/*
 * One PostgreSQL for a whole run of the suite, started by the first test that asks for one and ended with the run,
 * also where that is killed (postgres-keeper.sh). A test has a database of its own, made from one that was migrated once.
 */

const PLACE = "/usr/lib/postgresql";
export const postgresPrograms = newest();
/** Who has to be alive for the server to be; it is the test's own process where it is run by itself. */
const runner = process.env["BOX_TEST_RUNNER"] ?? String(process.pid);
/** Beside the run's other things, so that every process of it finds it. */
const shared = process.env["TMPDIR"] ?? tmpdir();
const mark = join(shared, `box-postgres-${runner}`);
const MAINTENANCE = "postgres";
const TEMPLATE = "box_template";
const START_MS = 30_000;

/** The directory of PostgreSQL's programs, 15 or later; null where there is none. */
function newest(): string | null {
  if (!existsSync(PLACE)) return null;
  const versions = readdirSync(PLACE)
    .map(Number)
    .filter((version) => version >= 15);
  const place = join(PLACE, String(Math.max(...versions)), "bin");
  return existsSync(join(place, "initdb")) ? place : null;
}

/** A test that needs PostgreSQL. Where there is none it is passed over, which one line says; or it fails, where it must be there. */
export const postgresTest = onPostgres(test);

/** The same, made of one of the tests of `long.ts`. */
export function onPostgres(made: typeof test) {
  return (name: string, run: (t: TestContext) => void | Promise<void>): void => {
    if (postgresPrograms !== null) made(name, run);
    else if (process.env["BOX_TEST_POSTGRES"] === "must")
      made(name, () => Promise.reject(new Error(`there is no PostgreSQL in ${PLACE}`)));
    else {
      sayOnce();
      made(name, { skip: "no PostgreSQL" });
    }
  };
}

function sayOnce(): void {
  try {
    mkdirSync(`${mark}-none`);
    forgetAtEnd(`${mark}-none`);
    process.stderr.write(`\nNO POSTGRESQL in ${PLACE}: nothing that needs one is tested.\n\n`);
  } catch {
    // Another file has said it.
  }
}

/** A run of many files removes what lies beside its other things itself. */
function forgetAtEnd(path: string): void {
  if (process.env["BOX_TEST_RUNNER"] === undefined)
    process.once("exit", () => rmSync(path, { recursive: true, force: true }));
}

/** The directory of the server's socket, once it answers. */
export async function socketDirectory(): Promise<string> {
  try {
    mkdirSync(mark);
  } catch {
    return started();
  }
  forgetAtEnd(mark);
  const place = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : "/tmp", "box-postgres-"));
  chmodSync(place, 0o755);
  // It refuses to be root.
  const user = postgresUser();
  if (user !== null) chownSync(place, user.uid, user.gid);
  // As text: the other user may not be let into this tree.
  const keeper = readFileSync(join(import.meta.dirname, "postgres-keeper.sh"), "utf8");
  const child = spawn("sh", ["-c", keeper, "postgres-keeper.sh", place, runner], {
    cwd: "/",
    detached: true,
    stdio: "ignore",
    env: { PATH: process.env["PATH"], BOX_TEST_POSTGRES_BIN: postgresPrograms ?? "" },
    ...user,
  });
  child.unref();
  await answering(place);
  await makeTemplate(place);
  writeFileSync(join(mark, "place"), place);
  return place;
}

/** Another process of the run starts it. */
async function started(): Promise<string> {
  const file = join(mark, "place");
  const until = systemClock.mono() + START_MS;
  for (;;) {
    const place = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (place !== "") return place;
    if (systemClock.mono() > until) throw new Error("PostgreSQL didn't start in another process");
    await sleep(systemClock, 25);
  }
}

async function answering(place: string): Promise<void> {
  const until = systemClock.mono() + START_MS;
  while (!(await canConnect(join(place, ".s.PGSQL.5432")))) {
    if (systemClock.mono() > until)
      throw new Error(`PostgreSQL didn't start; its log is in ${place}`);
    await sleep(systemClock, 25);
  }
}

export function canConnect(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (can: boolean) => {
      socket.destroy();
      resolve(can);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}

/** Who to run it as; null: as whoever runs this. */
export const postgresUser = () => (process.getuid?.() === 0 ? userOf("postgres") : null);

function userOf(name: string): { uid: number; gid: number } {
  const row = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((line) => line.startsWith(`${name}:`));
  const [, , uid = "65534", gid = "65534"] = row?.split(":") ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** `hand`: whose now() is the test's. The clock's schema comes before PostgreSQL's own, whose now() it hides. */
const CLOCK = `
  CREATE SCHEMA clock;
  CREATE TABLE clock.present (at timestamptz, ahead interval NOT NULL);
  INSERT INTO clock.present (ahead) VALUES ('0');
  CREATE FUNCTION clock.now() RETURNS timestamptz LANGUAGE sql STABLE
    AS 'SELECT coalesce(at, pg_catalog.now()) + ahead FROM clock.present';
  CREATE ROLE hand SUPERUSER LOGIN;
  ALTER ROLE hand SET search_path = clock, pg_catalog, public`;

async function makeTemplate(place: string): Promise<void> {
  const root = databaseAt(place, MAINTENANCE);
  await root.query(`CREATE DATABASE ${TEMPLATE}`);
  root.close();
  const template = databaseAt(place, TEMPLATE);
  await migrateDatabase(template);
  for (const statement of CLOCK.split(";\n")) await template.query(statement);
  template.close();
}

function databaseAt(place: string, name: string, user = "box"): Database {
  return openDatabase({
    clock: systemClock,
    random: systemRandom,
    pool: 2,
    ca: null,
    onPlain() {},
    url: urlOf(`postgres://${user}@${encodeURIComponent(place)}/${name}`),
    dial: () => Promise.reject(new Error("a socket of this machine isn't dialled")),
  });
}

function urlOf(text: string): DatabaseUrl {
  const url = readDatabaseUrl(text);
  if (typeof url === "string") throw new Error(url);
  return url;
}

export interface TestDatabase {
  /** For `--database`: by the server's socket. */
  url: string;
  /** The directory of the socket. */
  socket: string;
  name: string;
  /** Connections that a node would have, by another way than `url` where that is said; ended with the test. */
  open(options?: { pool?: number; by?: string }): Database;
  /** Moves the database's clock on (or back). */
  turn(ms: number): Promise<void>;
  /** Stops the database's clock at `ms` (since 1970), or lets it go on. */
  setNow(ms: number | null): Promise<void>;
}

/** What goes with a test, or with a file's `after`. */
export interface Ends {
  after(end: () => Promise<void>): void;
}

/** A database for a test, which goes with it. `empty`: as it is before the first migration; its clock can't be turned. */
export async function testDatabase(
  t: Ends,
  { empty = false }: { empty?: boolean } = {},
): Promise<TestDatabase> {
  const socket = await socketDirectory();
  const name = `t${hexId(systemRandom)}`;
  const root = databaseAt(socket, MAINTENANCE);
  const opened: Database[] = [root];
  const from = empty ? "template0" : TEMPLATE;
  // A third of the usual strategy's time: nothing is synced here.
  await root.query(`CREATE DATABASE ${name} TEMPLATE ${from} STRATEGY FILE_COPY`);
  t.after(async () => {
    for (const one of opened.slice(1)) one.close();
    await root.query(`DROP DATABASE ${name} WITH (FORCE)`);
    root.close();
  });
  const user = empty ? "box" : "hand";
  const open = ({ pool = 4, by = url }: { pool?: number; by?: string } = {}) => {
    const database = openDatabase({
      clock: systemClock,
      random: systemRandom,
      pool,
      ca: null,
      onPlain() {},
      url: urlOf(by),
      dial: () => Promise.reject(new Error("a socket of this machine isn't dialled")),
    });
    opened.push(database);
    return database;
  };
  const url = `postgres://${user}@${encodeURIComponent(socket)}/${name}`;
  let own: Database | null = null;
  const set = async (sql: string, value: number | null) => {
    own ??= databaseAt(socket, name);
    if (!opened.includes(own)) opened.push(own);
    await own.query(sql, [value]);
  };
  return {
    url,
    socket,
    name,
    open,
    turn: (ms) => set("UPDATE clock.present SET ahead = ahead + $1 * interval '1 ms'", ms),
    setNow: (ms) =>
      set("UPDATE clock.present SET at = to_timestamp($1::float8 / 1000), ahead = '0'", ms),
  };
}
