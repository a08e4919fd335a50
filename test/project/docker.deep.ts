import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as later } from "node:timers/promises";
import { parse } from "yaml";
import { needs } from "../support/commands.ts";
import { postgresPrograms } from "../support/postgres.ts";
import { blocks, root } from "./document.ts";

/*
 * docs/run-anywhere.md as pasted, on a Docker daemon of this file's own: `npm run image`, then `node --test` with this
 * file. It needs root, the ports 80, 443, 8080 and 8090, and Debian's docker.io, docker-compose, caddy and postgresql.
 */
const document = "docs/run-anywhere.md";
const place = mkdtempSync(join(tmpdir(), "box-docker-"));
const env: NodeJS.ProcessEnv = {
  ...process.env,
  DOCKER_HOST: `unix://${place}/docker.sock`,
  PATH: `${place}/bin:${process.env["PATH"]}`,
};
const needed =
  process.getuid?.() === 0
    ? needs("dockerd", "docker", "docker-compose", "caddy")
    : { skip: "needs root" };

const read = (name: string) => readFileSync(join(root, name), "utf8");

/** Runs a script to its end, from the clone's folder. Returns what it printed. */
function shell(script: string): string {
  const how = { env, cwd: root, encoding: "utf8" } as const;
  const words = ["--norc", "-exo", "pipefail", "-c", script];
  const { status, stdout, stderr } = spawnSync("bash", words, how);
  assert.equal(status, 0, `${stdout}\n${stderr}`);
  return stdout;
}

async function until<T>(what: string, look: () => T | Promise<T>): Promise<T> {
  for (let i = 0; i < 120; i++) {
    const seen = await Promise.resolve()
      .then(look)
      .catch(() => false as const);
    if (seen) return seen as T;
    await later(500);
  }
  assert.fail(`${what}: not within a minute`);
}

let daemon: ChildProcess | undefined;
before(async () => {
  if (needed.skip !== false) return;
  const own = ["data-root", "exec-root"].map((name) => `--${name}=${join(place, name)}`);
  const flags = [...own, `--pidfile=${place}/pid`, `--host=${env["DOCKER_HOST"]}`];
  daemon = spawn("dockerd", flags, { stdio: "ignore" });
  await until("the daemon", () => spawnSync("docker", ["info"], { env }).status === 0);
  // Debian 12 has compose as a command of its own.
  const docker = shell("command -v docker").trim();
  const script = `#!/bin/sh\n[ "$1" = compose ] || exec ${docker} "$@"\nshift\nexec docker-compose "$@"\n`;
  mkdirSync(join(place, "bin"));
  writeFileSync(join(place, "bin/docker"), script, { mode: 0o755 });
  shell("docker load -i dist/box-image.tar");
});
after(async () => {
  if (daemon !== undefined) {
    const ended = once(daemon, "exit");
    spawnSync("bash", ["-c", "docker ps -aq | xargs -r docker rm -f; docker network prune -f"], {
      env,
    });
    daemon.kill();
    await ended;
  }
  rmSync(place, { recursive: true, force: true });
});

/** An image of Debian's own programs, with the libraries that they load. */
function imageOf(
  name: string,
  files: string[],
  changes: string[],
  own: Record<string, string> = {},
): void {
  const at = join(place, "images", name.replace(":", "-"));
  const loaded = files
    .filter((file) => /\/bin\/|\.so$/.test(file))
    .flatMap((file) => spawnSync("ldd", [file], { encoding: "utf8" }).stdout.match(/\/\S+/g) ?? []);
  for (const file of new Set([...files, ...loaded]))
    cpSync(file, join(at, file), { recursive: true, dereference: true });
  for (const [to, from] of Object.entries(own)) cpSync(from, join(at, to));
  const data = join(at, "var/lib/postgresql/data");
  mkdirSync(data, { recursive: true });
  chownSync(data, 999, 999);
  mkdirSync(join(at, "tmp"), { recursive: true });
  chmodSync(join(at, "tmp"), 0o777);
  const all = changes.map((change) => `--change '${change}'`).join(" ");
  shell(`tar -C ${at} -c . | docker import ${all} - ${name}`);
}

const URL = "http://127.0.0.1:8080";

async function call(method: string, path: string, body: object | null, key = "") {
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  const init = { method, headers, ...(body !== null && { body: JSON.stringify(body) }) };
  const answer = await fetch(URL + path, init);
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
  return { status: answer.status, body: (await answer.json()) as any };
}

/** The owner's key, by a code that a command printed. */
async function seat(said: string): Promise<string> {
  assert.match(
    said,
    new RegExp(`^link +${URL}/pair#code=`, "m"),
    "the link is one that browsers reach",
  );
  const code = /^pairing code +(\S+)$/m.exec(said)?.[1];
  const person = {
    display_name: "Ada",
    email: "ada@example.org",
    password: "correct horse battery",
  };
  await until("the box", async () => (await fetch(`${URL}/healthz`)).ok);
  const { body } = await call("POST", "/v1/pair", { code, ...person });
  return String(body.api_key);
}

const isOwner = async (key: string) => (await call("GET", "/v1/me", null, key)).status === 200;
const health = (name: string) =>
  shell(`docker inspect ${name} --format '{{.State.Health.Status}} {{.State.ExitCode}}'`).trim();

test(
  "with docker: serves, is healthy, killed, stopped, and another container goes on from its volume",
  needed,
  async () => {
    const [run = ""] = blocks(document, "", "## Docker or Podman");
    const key = await seat(shell(run));
    assert.ok(await isOwner(key));
    await until("its health", () => health("box") === "healthy 0");
    shell("docker kill -s KILL box && docker start box");
    await until("the box after a kill", () => isOwner(key));
    shell(/`(docker exec box box backup [^`]+)`/.exec(read(document))?.[1] ?? "exit 1");
    shell("docker stop box");
    assert.match(health("box"), / 0$/, "a stop is no failure");
    shell(`docker rm box\n${run.split("\n").slice(1, 3).join("\n")}`);
    await until("another container", () => isOwner(key));
    shell("docker rm -f box && docker volume rm box");
  },
);

test("with compose: serves, and goes on from its volume", needed, async () => {
  const [run = ""] = blocks(document, "", "## Compose");
  // Debian's compose asks for a terminal, where today's sees that there is none.
  const key = await seat(shell(run.replace(" exec ", " exec -T ")));
  shell(
    "docker compose -f deploy/compose.yaml down && docker compose -f deploy/compose.yaml up -d",
  );
  await until("the box", () => isOwner(key));
  shell("docker compose -f deploy/compose.yaml down -v");
});

test(
  "with compose and Caddy: https reaches the box, which knows the caller's address",
  needed,
  async () => {
    imageOf("caddy:2", [shell("command -v caddy").trim()], ["ENV XDG_DATA_HOME=/data HOME=/data"]);
    // What compose 2.24 makes of both files; Debian's knows no `!reset`.
    const [alone, https] = ["", ".https"].map((name) =>
      parse(read(`deploy/compose${name}.yaml`), { logLevel: "silent" }),
    );
    const { box, ...others } = https.services;
    const both = {
      ...alone.services.box,
      ...box,
      environment: [...alone.services.box.environment, ...box.environment],
    };
    const file = join(place, "compose.json");
    const merged = {
      services: { box: both, ...others },
      networks: https.networks,
      volumes: { ...alone.volumes, ...https.volumes },
    };
    assert.deepEqual(both.ports, [], "nobody goes past Caddy");
    writeFileSync(file, JSON.stringify({ version: "3.9", ...merged }));
    env["BOX_HOST"] = "localhost";
    shell(`docker compose -p front -f ${file} up -d`);
    const curl = (words: string) =>
      shell(`curl --silent --show-error --insecure --max-time 5 ${words}`);
    await until("https", () => curl("https://localhost/healthz") === '{"status":"ok"}');
    const said = shell(`docker compose -p front -f ${file} exec -T box box pair-code`);
    assert.match(said, /^link +https:\/\/localhost\/pair#code=/m);
    shell(`docker compose -p front -f ${file} down -v`);
  },
);

test(
  "the hosted role with compose and PostgreSQL: ready, and keeps what it was told",
  needed,
  async () => {
    const at = dirname(postgresPrograms ?? assert.fail("PostgreSQL is missing"));
    const share = at.replace("/usr/lib", "/usr/share");
    const programs = ["initdb", "postgres", "pg_isready"].map((name) => `${at}/bin/${name}`);
    const entry = join(place, "entry");
    const script = `#!/bin/sh
set -e
if [ ! -s $PGDATA/PG_VERSION ]; then
  printf %s "$POSTGRES_PASSWORD" >/tmp/password
  ${at}/bin/initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-host=scram-sha-256
  echo "host all all all scram-sha-256" >>$PGDATA/pg_hba.conf
  echo "CREATE DATABASE $POSTGRES_DB" | ${at}/bin/postgres --single postgres
fi
exec ${at}/bin/postgres -c listen_addresses='*' -c unix_socket_directories=/tmp
`;
    writeFileSync(entry, script, { mode: 0o755 });
    const passwd = join(place, "passwd");
    writeFileSync(passwd, "postgres:x:999:999::/tmp:/bin/sh\n");
    const libraries = ["dict_snowball", "plpgsql"].map((name) => `${at}/lib/${name}.so`);
    imageOf(
      "postgres:17",
      [...programs, ...libraries, share, "/usr/share/zoneinfo", "/bin/sh", "/bin/cat"],
      [
        ...["USER 999:999", `ENTRYPOINT ["/entry"]`, "VOLUME /var/lib/postgresql/data"],
        `ENV PATH=${at}/bin:/bin PGDATA=/var/lib/postgresql/data PGHOST=/tmp`,
      ],
      { "/entry": entry, "/etc/passwd": passwd },
    );
    const [, , up = ""] = blocks(document, "", "## Compose");
    env["POSTGRES_PASSWORD"] = "a-password-of-your-making";
    const compose = "docker compose -f deploy/compose.hosted.yaml";
    const ready = async () => (await fetch("http://127.0.0.1:8090/readyz")).ok;
    shell(up);
    await until("the hosted role", ready);
    const said = shell(
      `${compose} exec -T hosted box hosted tenant add --data /var/lib/box --kind box --owner ada@example.org --json`,
    );
    const { tenant_id: tenant } = JSON.parse(said);
    shell(`${compose} down && ${compose} up -d`);
    await until("the hosted role again", ready);
    shell(
      `${compose} exec -T hosted box hosted tenant set --data /var/lib/box ${tenant} --watch 300`,
    );
    shell(`${compose} down -v; rm deploy/hosted.key`);
  },
);
