import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

/*
 * Machines with a network between them, made of Linux namespaces. Each has processes, an address and a disk of its own: this
 * machine's, with what it writes itself laid over. So the documents' commands run there as they stand.
 */

/** `sudo`, and what systemd does for a unit: its user and environment, and starting it again. */
const STAND_INS = {
  sudo: `[ "$1" = -u ] || exec "$@"
user=$2
shift 2
exec runuser -u "$user" -- "$@"`,
  systemctl: `unit() { sed -n "s/^$1=//p" /usr/lib/systemd/system/box.service; }
box() {
  set -a
  . /etc/box/box.env
  eval "$(unit Environment)"
  cd / && exec setpriv --reuid=box --regid=box --clear-groups --no-new-privs sh -c "umask $(unit UMask); exec $(unit ExecStart)"
}
case "$*" in
  *--now\\ box | "start box" | "restart box" | "start box.service")
    systemctl stop box
    from=$(wc -c </var/log/box.log)
    (
      trap 'kill $child; wait $child; exit' TERM
      while :; do
        box >>/var/log/box.log 2>&1 & child=$!
        echo $child >/run/box.pid
        wait $child
        case " $(unit RestartPreventExitStatus) " in *" $? "*) exit ;; esac
        sleep "$(unit RestartSec)"
      done
    ) >/dev/null 2>&1 & echo $! >/run/box-unit.pid
    # Its NOTIFY_SOCKET says so in earnest.
    until tail -c "+$((from + 1))" /var/log/box.log | grep -q 'listening on'; do
      kill -0 "$(cat /run/box-unit.pid)" 2>/dev/null || { cat /var/log/box.log >&2; exit 1; }
      sleep 0.1
    done ;;
  "try-restart box.service "*) [ ! -e /run/box-unit.pid ] || exec systemctl restart box ;;
  "stop box")
    pid=$(cat /run/box-unit.pid 2>/dev/null) || exit 0
    kill "$pid" 2>/dev/null
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    rm /run/box-unit.pid ;;
  "preset box.service" | "--quiet is-enabled box.service") ! grep -qs 'disable box.service' /etc/systemd/system-preset/* ;;
  "reload haproxy") exec haproxy -D -f /etc/haproxy/haproxy.cfg ;;
  *" postgresql") exec pg_ctlcluster --skip-systemctl-redirect 15 main "\${1/enable/start}" ;;
esac`,
  // Of what is installed here already, and of packages in files.
  "apt-get": 'case "$2" in *.deb) exec dpkg -i "$2" ;; esac',
  // What is sent to another machine lies where all of them see it.
  ssh: 'cd /post && exec sh -c "$2"',
};

const sh = promisify(execFile);

/** One of them. */
export class Host {
  readonly name: string;
  readonly address: string;
  /** What its root holds, as this machine sees it; only while it is on. */
  readonly #dir: string;
  readonly #switch: () => number;
  #holder: ChildProcess | null = null;
  #pid = 0;

  constructor(dir: string, name: string, address: string, lan: () => number) {
    this.name = name;
    this.address = address;
    this.#dir = join(dir, name);
    this.#switch = lan;
    for (const part of ["upper/usr/local/bin", "upper/var/log", "work", "root"])
      mkdirSync(join(this.#dir, part), { recursive: true });
    for (const [word, text] of Object.entries(STAND_INS)) {
      writeFileSync(this.file(`usr/local/bin/${word}`), `#!/bin/bash\n${text}\n`, { mode: 0o755 });
    }
    writeFileSync(this.file("var/log/box.log"), "");
  }

  /** A file that it wrote. */
  file(path: string): string {
    return join(this.#dir, "upper", path);
  }

  /** Turns it on, with the disk that it has. */
  async powerOn(): Promise<void> {
    const [upper, work, root] = ["upper", "work", "root"].map((part) => join(this.#dir, part));
    const script = `mount -t overlay overlay -o lowerdir=/,upperdir=${upper},workdir=${work} ${root}
      cd ${root} && mount --rbind /dev dev && mount -t proc proc proc
      mkdir -p post && mount --bind ${this.#dir}/../post post
      mount -t tmpfs tmpfs run && mkdir -p run/systemd/system run/postgresql && chown postgres run/postgresql
      ip link set lo up && echo on
      # It takes leave of what ends there, as the first process of a machine does.
      sleep infinity & wait`;
    const apart = [
      "--net",
      "--mount",
      "--pid",
      "--fork",
      "--kill-child",
      "--propagation",
      "private",
    ];
    this.#holder = spawn("unshare", [...apart, "sh", "-ec", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(this.#holder.stdout as NodeJS.ReadableStream, "data");
    const own = this.#holder.pid;
    this.#pid = Number(readFileSync(`/proc/${own}/task/${own}/children`, "utf8"));
    const port = ["link", "add", this.name, "type", "veth", "peer", "name", "eth0", "netns"];
    ip(this.#switch(), ...port, String(this.#pid));
    ip(this.#switch(), "link", "set", this.name, "master", "lan", "up");
    ip(this.#pid, "addr", "add", `${this.address}/24`, "dev", "eth0");
    ip(this.#pid, "link", "set", "eth0", "up");
  }

  /** All its processes end at once, and nobody hears of it. */
  async powerOff(): Promise<void> {
    const holder = this.#holder;
    if (holder === null) return;
    this.#holder = null;
    ip(this.#switch(), "link", "del", this.name);
    const gone = once(holder, "exit");
    holder.kill("SIGKILL");
    await gone;
  }

  /** What is sent from here to there is lost on its way, or isn't any more. */
  cut(other: Host, isCut: boolean): void {
    const nowhere = ["lladdr", "02:00:00:00:00:01", "nud", "permanent"];
    for (const [from, to] of [
      [this, other],
      [other, this],
    ] as const)
      ip(
        from.#pid,
        "neigh",
        ...(isCut ? ["replace", to.address, ...nowhere] : ["del", to.address]),
        "dev",
        "eth0",
      );
  }

  /** Runs commands as root; what they print. */
  async run(script: string): Promise<string> {
    const words = this.words("bash", "--norc", "-euo", "pipefail", "-c", `cd /home; ${script}`);
    const how = { env: ENV, timeout: 40_000, maxBuffer: 1e8 };
    try {
      return (await sh(words[0], words.slice(1), how)).stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      const log = readFileSync(this.file("var/log/box.log"), "utf8").slice(-2_000);
      throw new Error(`${this.name}: ${script}\n${stdout}${stderr}\n${log}`);
    }
  }

  /** The words that run a program there. */
  words(...program: string[]): [string, ...string[]] {
    const into = ["nsenter", "-t", String(this.#pid), "-n", "-m", "-p"] as const;
    return [...into, "chroot", join(this.#dir, "root"), ...program];
  }
}

/** All of them. */
export class Lan {
  readonly dir = mkdtempSync(join(tmpdir(), "box-lan-"));
  readonly #hosts: Host[] = [];
  #switch: ChildProcess | null = null;

  async begin(): Promise<void> {
    chmodSync(this.dir, 0o755);
    mkdirSync(join(this.dir, "post"));
    const script =
      "ip link add lan type bridge && ip link set lan up && echo on && exec sleep infinity";
    this.#switch = spawn("unshare", ["--net", "sh", "-ec", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(this.#switch.stdout as NodeJS.ReadableStream, "data");
  }

  async host(name: string, address: string): Promise<Host> {
    const made = new Host(this.dir, name, address, () => this.#switch?.pid ?? 0);
    this.#hosts.push(made);
    await made.powerOn();
    return made;
  }

  async end(): Promise<void> {
    for (const host of this.#hosts) await host.powerOff();
    this.#switch?.kill("SIGKILL");
    // A namespace that has just ended may hold its disk for a moment.
    for (let left = 20; left > 0; left--)
      try {
        return rmSync(this.dir, { recursive: true, force: true });
      } catch {
        await pause(100);
      }
  }
}

const ENV = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/home",
  LC_ALL: "C",
};

function ip(pid: number, ...words: string[]): void {
  execFileSync("nsenter", ["-t", String(pid), "-n", "ip", ...words]);
}

/** Why there are none here; false where there are. */
export function noLan(): string | false {
  if (process.getuid?.() !== 0) return "only root makes machines of namespaces";
  const tried = spawnSync("unshare", [
    "--net",
    "--mount",
    "--pid",
    "--fork",
    "ip",
    "link",
    "add",
    "lan",
    "type",
    "bridge",
  ]);
  return tried.status === 0 ? false : "no namespaces, or no bridge";
}
