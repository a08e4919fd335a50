import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { needs } from "../support/commands.ts";
import { freePort } from "../support/free-port.ts";
import { postgresPrograms, postgresUser } from "../support/postgres.ts";
import { programFile } from "../support/program.ts";
import { blocks, root } from "./document.ts";

/*
 * "Step by step" of docs/hosted.md, block by block, on one machine: the document's addresses become ports of this one,
 * and `sudo` and `systemctl` stand for what they do to its machines.
 */

const SUDO = `#!/bin/sh
[ "$1" = -u ] || exec "$@"
shift 2
export HOME="$PGHOST"
[ -z "$POSTGRES_UID" ] || exec setpriv --reuid "$POSTGRES_UID" --regid "$POSTGRES_GID" --clear-groups "$@"
exec "$@"
`;
const SYSTEMCTL = `#!/bin/sh
case "$*" in
  "enable --now postgresql") exec systemctl start postgresql ;;
  *postgresql) exec sudo -u postgres pg_ctl -s -w -m fast -D "$PGDATA" -l "$PGHOST/log" -o "-p $PGPORT -k $PGHOST" "$1" ;;
  "reload haproxy") exec haproxy -D -p "$ETC/haproxy/pid" -f "$ETC/haproxy/haproxy.cfg" ;;
esac
`;

/** What a reader has from elsewhere. */
const PUSH_KEY =
  "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out /etc/box/AuthKey_ABC.p8";
const CERTIFICATE =
  "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=pager.example.com -addext subjectAltName=DNS:pager.example.com -keyout key.pem -out fullchain.pem 2>&1";

class Machines {
  readonly dir = mkdtempSync(join(tmpdir(), "box-machines-"));
  readonly etc = join(this.dir, "etc");
  readonly nodes: ChildProcess[] = [];
  #ports: number[] = [];
  #program = "";

  async begin(): Promise<void> {
    this.#ports = await Promise.all(Array.from({ length: 5 }, freePort));
    this.#program = await programFile();
    chmodSync(this.dir, 0o755);
    for (const name of ["bin", "etc", "etc/haproxy", "back"])
      mkdirSync(join(this.dir, name), { mode: name === "back" ? 0o700 : 0o755 });
    this.#write("bin/sudo", SUDO);
    this.#write("bin/systemctl", SYSTEMCTL);
    this.#write("bin/runuser", '#!/bin/sh\nshift 3\nexec "$@"\n');
    this.#write("bin/box", `#!/bin/sh\nexec "${process.execPath}" "${this.#program}" "$@"\n`);
    const sample = readFileSync(join(root, "systemd/haproxy.cfg"), "utf8");
    const mayBeAnother = process.getuid?.() === 0;
    this.#write(
      "haproxy.cfg",
      mayBeAnother ? sample : sample.replace(/^ +(user|group) .*\n/gm, ""),
    );
    const user = postgresUser();
    for (const machine of ["db1", "db2"]) {
      const place = join(this.dir, machine);
      mkdirSync(place);
      if (user !== null) chownSync(place, user.uid, user.gid);
      const how =
        "--username postgres --auth-local trust --auth-host scram-sha-256 --no-locale --encoding UTF8";
      this.run(
        machine,
        `sudo -u postgres initdb -D "$PGDATA" ${how} && sudo systemctl start postgresql`,
      );
    }
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.dir, name), this.here(text), { mode: 0o755 });
  }

  /** A text of the document with this machine's places. */
  here(text: string, machine = ""): string {
    const [db1, db2, one, two, balancer] = this.#ports;
    const places: [string, string][] = [
      ["10.0.0.21:5432", `127.0.0.1:${db1}`],
      ["10.0.0.22:5432", `127.0.0.1:${db2}`],
      ["host=10.0.0.22", `host=127.0.0.1 port=${db2}`],
      ["host=10.0.0.21", `host=127.0.0.1 port=${db1}`],
      ["10.0.0.0/24", "127.0.0.1/32"],
      ["10.0.0.10/32", "127.0.0.1/32"],
      ["10.0.0.11:8090", `127.0.0.1:${one}`],
      ["10.0.0.12:8090", `127.0.0.1:${two}`],
      ["maxconn 8000", "maxconn 200"],
      ["bind :443", `bind 127.0.0.1:${balancer}`],
      [
        "curl -fsS https://pager.example.com",
        `curl -fsS --cacert fullchain.pem --resolve pager.example.com:${balancer}:127.0.0.1 https://pager.example.com:${balancer}`,
      ],
      ["listen_addresses = '*'", "listen_addresses = '127.0.0.1'"],
      ["/var/lib/postgresql/15/main", join(this.dir, machine, "data")],
      ["/var/lib/postgresql", join(this.dir, machine)],
      ["/etc/box", this.etc],
      ["/etc/haproxy", join(this.etc, "haproxy")],
      ["/etc/systemd", join(this.etc, "systemd")],
      ["-o box", `-o ${process.getuid?.()}`],
    ];
    return places.reduce((all, [from, to]) => all.replaceAll(from, to), text);
  }

  /** Runs commands of the document at one of its machines; what they print. */
  run(machine: string, script: string): string {
    const user = postgresUser();
    const env = {
      LC_ALL: "C",
      ETC: this.etc,
      HOME: this.dir,
      PATH: [
        join(this.dir, "bin"),
        postgresPrograms,
        dirname(process.execPath),
        process.env["PATH"],
        "/usr/sbin",
      ].join(":"),
      PGHOST: join(this.dir, machine),
      PGDATA: join(this.dir, machine, "data"),
      PGUSER: "postgres",
      PGPORT: String(this.#ports[machine === "db1" ? 0 : 1]),
      ...(user === null ? {} : { POSTGRES_UID: String(user.uid), POSTGRES_GID: String(user.gid) }),
    };
    const words = ["--norc", "-euo", "pipefail", "-c", this.here(script, machine)];
    const how = { cwd: this.dir, env, encoding: "utf8", timeout: 60_000 } as const;
    return execFileSync("bash", words, { ...how, stdio: ["ignore", "pipe", "inherit"] });
  }

  /** Starts a node with the document's hosted.env, as its unit does. */
  async node(name: string, settings: string): Promise<ChildProcess> {
    const own = Object.fromEntries(
      settings
        .trim()
        .split("\n")
        .map((line) => line.split("=", 2)),
    );
    const env = { ...process.env, ...own, BOX_DATA: join(this.dir, name) };
    const words = [this.#program, "hosted", "serve", "--log-level", "error"];
    const child = spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "inherit"] });
    this.nodes.push(child);
    await once(child.stdout, "data");
    return child;
  }

  end(): void {
    for (const node of this.nodes) node.kill("SIGKILL");
    const quietly = (machine: string, script: string) => {
      try {
        this.run(machine, script);
      } catch {
        // It wasn't there any more.
      }
    };
    quietly("lb", `kill "$(cat /etc/haproxy/pid)"`);
    for (const machine of ["db1", "db2"]) quietly(machine, "sudo systemctl stop postgresql 2>&1");
    rmSync(this.dir, { recursive: true, force: true });
  }
}

test(
  "two nodes, two databases and a load balancer by the document's commands: a node and the first database are lost, and nothing else",
  needs("bash", "haproxy", "curl", "openssl", "setpriv"),
  async (t) => {
    const steps = blocks("docs/hosted.md", "bash", "### Step by step");
    assert.equal(steps.length, 10);
    const [first = "", standby = "", waits = "", noBox = "", node = ""] = steps;
    const [people = "", balancer = "", lost = "", back = "", waitsAgain = ""] = steps.slice(5);
    const all = new Machines();
    t.after(() => all.end());
    await all.begin();
    all.run("db1", first);
    all.run("db2", standby);
    all.run("db1", waits);
    const state = `sudo -u postgres psql -AtXc 'SELECT application_name, sync_state FROM pg_stat_replication'`;
    await comes(() => all.run("db1", state).trim() === "db2|sync", "a synchronous standby");
    all.run("one", noBox);
    all.run("one", node);
    const settings = readFileSync(join(all.etc, "hosted.env"), "utf8");
    const one = await all.node("one", settings);
    await all.node("two", settings.replace(all.here("10.0.0.11:8090"), all.here("10.0.0.12:8090")));
    all.run("one", PUSH_KEY);
    assert.match(all.run("one", people), /pts_/);
    all.run("lb", CERTIFICATE);
    assert.match(all.run("lb", balancer), /"status":"(ok|degraded)"/);

    const tenants = "sudo -u postgres psql -AtX box -c 'SELECT id FROM tenants'";
    const [asNode = ""] = people.split("\n");
    const add = `${asNode}\nas_node box hosted tenant add --kind box --json`;
    const made = [all.run("db1", tenants).trim(), JSON.parse(all.run("one", add)).tenant_id];
    one.kill("SIGKILL");
    const ready = balancer.trim().split("\n").at(-1) ?? "";
    await comes(() => succeeds(() => all.run("lb", ready)), "the other node");
    made.push(JSON.parse(all.run("one", add)).tenant_id);
    all.run("db1", "sudo -u postgres pg_ctl -s -w -m immediate -D $PGDATA stop");
    all.run("db2", lost);
    await comes(
      () => succeeds(() => made.push(JSON.parse(all.run("one", add)).tenant_id)),
      "writes",
    );
    all.run("db1", back.replace("sudo systemctl stop postgresql\n", ""));
    all.run("db2", waitsAgain);
    await comes(() => all.run("db2", state).trim() === "db1|sync", "the lost one as the standby");
    made.push(JSON.parse(all.run("one", add)).tenant_id);
    await comes(() => succeeds(() => all.run("lb", ready)), "a node that is ready");
    assert.ok(!existsSync(join(all.dir, "box-data")), "commands on a database need no directory");
    const known = all.run("db2", tenants);
    assert.deepEqual(known.trim().split("\n").toSorted(), made.toSorted());

    for (const child of all.nodes) await stopped(child);
    copyFileSync(join(all.etc, "hosted.key"), join(all.dir, "back/hosted.key"));
    const move = `box hosted move --json --database-file /etc/box/database.url --data ${join(all.dir, "back")}`;
    // The one that was killed counts as alive for 10 s.
    let moved = { moved: "", rows: { tenants: 0 } };
    await comes(() => succeeds(() => (moved = JSON.parse(all.run("one", move)))), "the move");
    assert.deepEqual([moved.moved, moved.rows.tenants], ["to the data directory", made.length]);
  },
);

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}

function succeeds(run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch {
    return false;
  }
}

async function comes(holds: () => boolean, what: string): Promise<void> {
  for (let left = 60; !holds(); left--) {
    assert.ok(left > 0, `${what} didn't come`);
    await pause(500);
  }
}
