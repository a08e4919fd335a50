import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { linkKeyFile } from "../../src/app/key-link.ts";
import { atDesk } from "../../src/app/offline/desk.ts";
import { loadKeyRing } from "../../src/ground/kit/key-ring.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { handClock } from "../support/clock.ts";
import { servedBefore } from "../support/data.ts";
import { programFile } from "../support/program.ts";
import { scratch } from "../support/scratch.ts";

/** The image's user. */
const USER = 65_532;
const root = join(import.meta.dirname, "../..");
const program = await programFile();
const skip = whyNot();

/** Why no other user can run the program here; false: one can. */
function whyNot(): string | false {
  if (process.geteuid?.() !== 0) return "SKIPPED: not root, so no file can be another user's";
  for (let at = dirname(program); at !== "/"; at = dirname(at))
    if ((statSync(at).mode & constants.S_IXOTH) === 0)
      return `SKIPPED: other users can't read ${at}`;
  return false;
}

/** A secret as the kubelet mounts it: of root, readable by the pod's group, behind two links. */
function mounted(t: TestContext) {
  const folder = scratch(t);
  chmodSync(folder, 0o755);
  const [data, secret] = [join(folder, "data"), join(folder, "secret")];
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, USER, USER);
  mkdirSync(join(secret, "..2026"), { recursive: true, mode: 0o755 });
  const file = join(secret, "..2026", "box.key");
  writeFileSync(file, systemRandom.bytes(32));
  chownSync(file, 0, USER);
  chmodSync(file, 0o440);
  symlinkSync("..2026", join(secret, "..data"));
  symlinkSync("..data/box.key", join(secret, "box.key"));
  return { data, file, key: join(secret, "box.key") };
}

/** Serves as the image's user until it listens; or how it ended. */
async function served(data: string, key: string): Promise<string> {
  const words = [program, "serve", "--data", data, "--listen", "127.0.0.1:0"];
  const env = { PATH: process.env["PATH"] ?? "", BOX_KEY_FILE: key };
  const child = spawn(process.execPath, words, { uid: USER, gid: USER, cwd: "/", env });
  let said = "";
  const gone = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const ready = new Promise<null>((resolve) =>
    child.stdout.on("data", (text) => {
      said += text;
      if (said.includes("listening on")) resolve(null);
    }),
  );
  child.stderr.on("data", (text) => {
    said += text;
  });
  const code = await Promise.race([gone, ready]);
  child.kill("SIGTERM");
  await gone;
  return code === null ? "served" : `${code}: ${said}`;
}

test("a box serves with a key that is mounted for its group, and keeps no copy", {
  skip,
}, async (t) => {
  const { data, file, key } = mounted(t);
  assert.equal(await served(data, key), "served");
  assert.equal(readlinkSync(join(data, "box.key")), key);
  const keys = readdirSync(data).filter((name) => name.startsWith("box.key"));
  assert.deepEqual(keys, ["box.key"]);
  assert.equal(await served(data, key), "served", "on the same volume");
  // The same file is refused where more may read or change it, or where it is the box's own.
  for (const [uid, mode] of [
    [0, 0o444],
    [0, 0o460],
    [USER, 0o440],
  ] as const) {
    chownSync(file, uid, USER);
    chmodSync(file, mode);
    assert.match(await served(data, key), /^78: .*is too open: nothing was made/s);
  }
  renameSync(file, `${file}.away`);
  assert.match(await served(data, key), /^78: .*is unreadable: nothing was made/s);
  assert.deepEqual(
    readdirSync(data).filter((name) => name.startsWith("box.key")),
    keys,
    "no other key was made",
  );
});

test("a key that is in the directory already is neither lost nor hidden, and a mounted one is rotated where it lies", async (t) => {
  const folder = scratch(t);
  const data = join(folder, "data");
  servedBefore(data, "box");
  const own = join(data, "box.key");
  if (!readdirSync(data).includes("box.key")) writeFileSync(own, systemRandom.bytes(32));
  chmodSync(own, 0o600);
  const before = readFileSync(own);
  const key = join(folder, "key");
  writeFileSync(key, systemRandom.bytes(32), { mode: 0o600 });
  assert.throws(() => linkKeyFile(data, key), /box\.key is there already/);
  assert.deepEqual(readFileSync(own), before);
  writeFileSync(key, before);
  rmSync(own);
  linkKeyFile(data, key);
  linkKeyFile(data, key);
  assert.ok(lstatSync(own).isSymbolicLink());
  const desk = { data, clock: handClock(), random: systemRandom };
  await assert.rejects(
    atDesk(desk, "key-file rotate"),
    /is a link to .*put 32 new random bytes before/,
  );
  writeFileSync(key, Buffer.concat([systemRandom.bytes(32), before]));
  assert.equal(loadKeyRing(data, "box.key").ring?.keys.size, 2);
  accessSync(own);
});

test("the manifests mount the key as the box takes it", () => {
  const read = (name: string) => readFileSync(join(root, "deploy/kubernetes", name), "utf8");
  const [set] = parseAllDocuments(read("box.yaml")).map((one) => one.toJS());
  const { securityContext, containers, volumes } = set.spec.template.spec;
  const [{ env, volumeMounts }] = containers;
  const at = (name: string) => env.find((one: { name: string }) => one.name === name)?.value;
  const mount = volumeMounts.find((one: { name: string }) => one.name === "key");
  assert.equal(at("BOX_KEY_FILE"), `${mount.mountPath}/box.key`);
  assert.equal(mount.readOnly, true);
  const { secret } = volumes.find((one: { name: string }) => one.name === "key");
  assert.deepEqual(secret, { secretName: "box-key", defaultMode: 0o440 });
  assert.equal(securityContext.fsGroup, securityContext.runAsGroup);
  assert.ok(parse(read("kustomization.yaml")).resources.includes("box.yaml"));
});
