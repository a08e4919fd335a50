import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Machine, must, run, startServing } from "./machine.ts";

/** A Debian that has nothing but its base system, in a folder. */
export interface DebianRoot extends Machine {
  /** A path inside, as this machine sees it. */
  path(inside: string): string;
  /** Runs a command inside as root; it has to succeed. */
  run(...command: string[]): Promise<string>;
  remove(): void;
}

const UNIT = "/usr/lib/systemd/system/box.service";
const DEB = "/var/cache/box.deb";
const BACKUPS = "/var/backups/box";
/** What systemd gives a service besides what its unit says. */
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Makes one with debootstrap, from the mirror that this machine's apt uses, and installs a package
 * into it with apt, which has to find all that it depends on.
 */
export async function debianRoot(deb: string): Promise<DebianRoot> {
  const root = mkdtempSync(join(tmpdir(), "box-debian-"));
  chmodSync(root, 0o755);
  // A new /proc, seen by nobody else and gone with the command.
  const enter = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"';
  const inside = (command: readonly string[]) =>
    ["unshare", "--mount", "sh", "-c", enter, root, ...command] as const;
  const env = { ...process.env, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive", PATH };
  const asRoot = (...command: string[]) => must(inside(command), { env });
  const install = () => asRoot("apt-get", "install", "-qq", "--no-install-recommends", DEB);
  const unit = () => unitOf(root);

  await must(["debootstrap", "--variant=minbase", ...(await release()), root, await mirror()]);
  copyFileSync(deb, join(root, DEB));
  await asRoot("apt-get", "update", "-qq");
  await install();
  await asRoot("install", "-d", "-m", "0700", "-o", "box", "-g", "box", BACKUPS);
  appendFileSync(join(root, "etc/box/box.env"), "BOX_LISTEN=127.0.0.1:0\n");

  return {
    backup: `${BACKUPS}/box.db`,
    path: (name) => join(root, name),
    run: asRoot,
    async box(...words) {
      const command = unit().as(["/usr/bin/box", ...words, "--json"]);
      return JSON.parse(await must(inside(command), { env }));
    },
    serve: () => startServing(inside(unit().as(unit().command)), { env }),
    async reinstall() {
      await asRoot("apt-get", "remove", "-qq", "box");
      if (existsSync(join(root, "usr/bin/box"))) throw new Error("box is still there");
      await install();
    },
    async loseData() {
      const data = join(root, "var/lib/box");
      for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true });
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** The command of box.service, and how systemd would start one as its user, in its environment. */
function unitOf(root: string): { command: string[]; as(command: string[]): string[] } {
  const lines = readFileSync(join(root, UNIT), "utf8").split("\n");
  const all = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1));
  const one = (name: string) => all(name)[0] ?? "";
  const files = all("EnvironmentFile").map((file) => join(root, file.replace(/^-/, "")));
  const settings = [
    ...all("Environment"),
    ...files.flatMap((file) => readFileSync(file, "utf8").split("\n")),
  ].filter((line) => /^[A-Z_]+=/.test(line));
  const directories = [
    `STATE_DIRECTORY=/var/lib/${one("StateDirectory")}`,
    `CACHE_DIRECTORY=/var/cache/${one("CacheDirectory")}`,
  ];
  const user = [`--reuid=${one("User")}`, `--regid=${one("Group")}`, "--clear-groups"];
  return {
    command: one("ExecStart").split(" "),
    as: (command) => [
      "setpriv",
      ...user,
      "--no-new-privs",
      "--bounding-set=-all",
      "env",
      "-i",
      `PATH=${PATH}`,
      ...settings,
      ...directories,
      "sh",
      "-c",
      `umask ${one("UMask")}; exec "$@"`,
      "sh",
      ...command,
    ],
  };
}

/** Debian's name of the release that this machine runs. */
async function release(): Promise<string[]> {
  const found = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1];
  if (found === undefined) throw new Error("/etc/os-release names no release");
  return [found];
}

/** Where this machine's apt takes Debian from. */
async function mirror(): Promise<string> {
  const format = "$(REPO_URI) $(CODENAME) $(COMPONENT)";
  const targets = await must([
    "apt-get",
    "indextargets",
    "--format",
    format,
    "Created-By: Packages",
  ]);
  const [codename] = await release();
  const found = targets.split("\n").find((line) => line.endsWith(` ${codename} main`));
  if (found === undefined) throw new Error(`apt knows no mirror of ${codename}`);
  return found.split(" ")[0] ?? "";
}

/** Why no such folder can be made here; null where it can. */
export async function noDebianRoot(): Promise<string | null> {
  if (process.getuid?.() !== 0) return "only root can make a Debian root";
  for (const program of ["debootstrap", "unshare", "chroot", "apt-get"]) {
    const found = await run(["sh", "-c", `command -v ${program}`]);
    if (found.code !== 0) return `${program} is missing`;
  }
  return null;
}
