import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { postgresPrograms, postgresUser } from "./postgres.ts";

/** A PostgreSQL as it is run in earnest: everything synced, and a standby that has each commit before it is answered. */
export interface PostgresPair {
  /** The socket of the one that takes writes now. */
  socket(): string;
  /** Statements for psql, at the one that takes writes unless told; what it prints, unaligned. */
  ask(sql: string, database?: string, socket?: string): Promise<string>;
  /** Kills the primary with all its processes, promotes the standby and makes it a new one. */
  failOver(): Promise<void>;
  /** Kills the primary with all its processes, and starts it again on what it has. */
  restart(): Promise<void>;
  /** Promotes the standby beside the primary, which lives and waits for it with each commit; its socket. */
  promote(): Promise<string>;
  /** Kills the standby: from now on every commit waits, until it is back or let go. */
  loseStandby(): Promise<void>;
  /** Starts it again on what it has. */
  standbyBack(): Promise<void>;
  /** The primary goes on alone, as an operator says who knows that the standby is lost. */
  letStandbyGo(): Promise<void>;
  /** CPU that the primary has taken so far, seconds. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

interface Server {
  data: string;
  /** The directory of its socket. */
  place: string;
  child: ChildProcess;
}

const OPTIONS = [
  "listen_addresses=",
  "shared_buffers=64MB",
  "max_connections=200",
  "max_wal_senders=4",
  "wal_level=replica",
  "hot_standby=on",
  "wal_keep_size=64MB",
  "autovacuum=on",
  "max_parallel_workers_per_gather=0",
  "wal_receiver_status_interval=1",
];
const START_MS = 30_000;
/** Waits for the end of process $1, then ends every server whose data lies in $2, and takes that away. */
const KEEPER = `while [ -d "/proc/$1" ] && [ -d "$2" ]; do sleep 1; done
for pid in $(cat "$2"/*/data/postmaster.pid 2>/dev/null | grep -xE "[0-9]{2,7}"); do
  case "$(tr "\\0" " " <"/proc/$pid/cmdline" 2>/dev/null)" in *" $2/"*) kill -QUIT "$pid" ;; esac
done
sleep 2; rm -rf "$2"`;

/**
 * `standby`: false for one alone, which promises less. `place`: where its files lie; in memory what is synced costs nothing,
 * and outlives each process as it does on a disk. Throws where PostgreSQL isn't installed.
 */
export async function startPostgresPair({
  standby = true,
  place: where = tmpdir(),
} = {}): Promise<PostgresPair> {
  const bin = postgresPrograms;
  if (bin === null) throw new Error("there is no PostgreSQL on this machine");
  const root = mkdtempSync(join(where, "box-pair-"));
  chmodSync(root, 0o755);
  const user = postgresUser();
  const run = promisify(execFile);
  const env = { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
  const as = { cwd: "/", env, ...user };
  // However this process ends, nothing of it goes on.
  spawn("sh", ["-c", KEEPER, "keeper", String(process.pid), root], {
    cwd: "/",
    detached: true,
    stdio: "ignore",
  }).unref();
  let count = 0;
  const place = () => {
    const dir = join(root, `s${count++}`);
    mkdirSync(dir);
    if (user !== null) chownSync(dir, user.uid, user.gid);
    return dir;
  };
  const start = async (dir: string): Promise<Server> => {
    const words = ["-D", join(dir, "data"), "-k", dir, ...OPTIONS.flatMap((one) => ["-c", one])];
    const child = spawn(join(bin, "postgres"), words, { ...as, stdio: "ignore" });
    const server = { data: join(dir, "data"), place: dir, child };
    await until(async () => (await query(dir, "SELECT 1").catch(() => "")) === "1", "an answer");
    return server;
  };
  const query = async (dir: string, sql: string, database = "postgres") => {
    const words = ["-h", dir, "-U", "box", "-d", database, "-qAtX", "-v", "ON_ERROR_STOP=1"];
    return (await run(join(bin, "psql"), [...words, "-c", sql], as)).stdout.trim();
  };
  const standbyOf = async (primary: Server): Promise<Server> => {
    const dir = place();
    const words = ["-h", primary.place, "-U", "box", "-D", join(dir, "data"), "-c", "fast", "-R"];
    await run(join(bin, "pg_basebackup"), [...words, "-X", "stream"], as);
    const made = await start(dir);
    const synced = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    await query(primary.place, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await query(primary.place, "SELECT pg_reload_conf()");
    await until(async () => (await query(primary.place, synced)) === "1", "a synchronous standby");
    return made;
  };

  const first = place();
  const words = ["--pgdata", join(first, "data"), "--username", "box", "--auth", "trust"];
  const more = ["--encoding", "UTF8", "--no-locale", "--no-instructions"];
  await run(join(bin, "initdb"), [...words, ...more], as);
  let primary = await start(first);
  let second = standby ? await standbyOf(primary) : null;
  await query(primary.place, "CREATE DATABASE box");

  return {
    socket: () => primary.place,
    ask: (sql, database = "box", socket = primary.place) => query(socket, sql, database),
    async failOver() {
      if (second === null) throw new Error("there is no standby to promote");
      await destroy(primary);
      const old = primary;
      primary = second;
      second = null;
      await query(primary.place, "SELECT pg_promote()");
      rmSync(old.place, { recursive: true, force: true });
      second = await standbyOf(primary);
    },
    async restart() {
      await destroy(primary);
      primary = await start(primary.place);
    },
    async promote() {
      if (second === null) throw new Error("there is no standby to promote");
      await query(second.place, "SELECT pg_promote()");
      return second.place;
    },
    async loseStandby() {
      if (second !== null) await destroy(second);
    },
    async standbyBack() {
      if (second !== null) second = await start(second.place);
    },
    async letStandbyGo() {
      await query(primary.place, "ALTER SYSTEM RESET synchronous_standby_names");
      await query(primary.place, "SELECT pg_reload_conf()");
    },
    cpuSeconds: () =>
      [primary.child.pid ?? 0, ...childrenOf(primary.child.pid)].reduce(
        (sum, pid) => sum + cpuOf(pid),
        endedCpuOf(primary.child.pid ?? 0),
      ),
    async stop() {
      for (const server of [second, primary]) if (server !== null) await destroy(server);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** All its processes at once, as a machine that loses power does it. */
async function destroy({ child }: Server): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  // Its own children are in sessions of their own; none may finish what the first can't any more.
  child.kill("SIGSTOP");
  for (const pid of childrenOf(child.pid)) killed(pid);
  child.kill("SIGKILL");
  await gone;
}

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It was gone before.
  }
}

function childrenOf(parent: number | undefined): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => statOf(name)?.[1] === String(parent))
    .map(Number);
}

/** What stands behind the command's name in /proc/PID/stat: state, parent, … */
function statOf(pid: string): string[] | null {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return null;
  try {
    return readFileSync(file, "utf8").split(") ").at(-1)?.split(" ") ?? null;
  } catch {
    return null;
  }
}

/** Hundredths of a second, as Linux counts them. */
const TICKS = 100;

function cpuOf(pid: number): number {
  const fields = statOf(String(pid));
  return fields === null ? 0 : (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Of its children that have ended: a connection that is closed mustn't take what it cost along. */
function endedCpuOf(pid: number): number {
  const fields = statOf(String(pid));
  return fields === null ? 0 : (Number(fields[13]) + Number(fields[14])) / TICKS;
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + START_MS;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`PostgreSQL: ${what} didn't come in time`);
    await pause(25);
  }
}
