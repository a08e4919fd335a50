import { spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { memoryOrTemp } from "./memory.ts";
import { canConnect, postgresUser, type TestDatabase } from "./postgres.ts";
import { until } from "./until.ts";

/** Where Debian puts it; null where it isn't installed. */
export const pgbouncer = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find(existsSync) ?? null;

const PORT = 6432;

/** A database's URL by way of a PgBouncer in transaction mode with two connections, which ends with the test. */
export async function pooledUrl(t: TestContext, made: TestDatabase): Promise<string> {
  if (pgbouncer === null) throw new Error("there is no PgBouncer");
  const place = mkdtempSync(join(memoryOrTemp(), "box-pgbouncer-"));
  const user = postgresUser();
  const config = join(place, "pgbouncer.ini");
  writeFileSync(
    config,
    `[databases]
* = host=${made.socket} port=5432 user=hand
[pgbouncer]
listen_port = ${PORT}
unix_socket_dir = ${place}
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 200
logfile = ${place}/log
`,
  );
  // Nobody names one: `any` lets everyone in as the database's own user.
  chmodSync(place, 0o755);
  if (user !== null) chownSync(place, user.uid, user.gid);
  const child = spawn(pgbouncer, ["-q", config], { cwd: "/", stdio: "ignore", ...user });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  t.after(async () => {
    child.kill("SIGKILL");
    await gone;
    rmSync(place, { recursive: true, force: true });
  });
  const path = join(place, `.s.PGSQL.${PORT}`);
  let answers = false;
  const knock = async () => {
    while (!answers) answers = await canConnect(path);
  };
  void knock();
  await until(() => answers, "PgBouncer answers");
  return made.url.replace(/@[^/]*\//, `@${encodeURIComponent(place)}:${PORT}/`);
}
