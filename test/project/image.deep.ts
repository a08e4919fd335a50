import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { chownSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { scratch } from "../support/scratch.ts";

/*
 * The image that `npm run image` made, used as a container runtime would: unpacked, its root mounted read-only, its own
 * user, its own command. Root is needed for the mounts.
 */
const root = join(import.meta.dirname, "../..");
const layout = join(root, "dist/image");
const isRoot = process.getuid?.() === 0;

const blob = (digest: string) => readFileSync(join(layout, "blobs", digest.replace(":", "/")));
const parsed = (digest: string) => JSON.parse(blob(digest).toString());

interface Manifest {
  config: { digest: string };
  layers: { digest: string }[];
}

/** A platform's manifest and configuration. */
function platform(architecture: string) {
  const top = JSON.parse(readFileSync(join(layout, "index.json"), "utf8"));
  const index = parsed(top.manifests[0].digest);
  const found = index.manifests.find(
    (one: { platform: { architecture: string } }) => one.platform.architecture === architecture,
  );
  const manifest: Manifest = parsed(found.digest);
  return { manifest, config: parsed(manifest.config.digest) };
}

before(() => {
  const made = spawnSync("npm", ["run", "image"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  assert.equal(made.status, 0);
});

test("each blob is what its name says, and made again the image is the same", () => {
  const folder = join(layout, "blobs/sha256");
  for (const name of readdirSync(folder))
    assert.equal(hash("sha256", readFileSync(join(folder, name)), "hex"), name);
  for (const architecture of ["amd64", "arm64"]) {
    const { manifest, config } = platform(architecture);
    const ids = manifest.layers.map((layer) => gunzipSync(blob(layer.digest)));
    assert.deepEqual(
      config.rootfs.diff_ids,
      ids.map((bytes: Buffer) => `sha256:${hash("sha256", bytes, "hex")}`),
    );
  }
  const first = readFileSync(join(layout, "index.json"), "utf8");
  assert.equal(spawnSync("npm", ["run", "image"], { cwd: root }).status, 0);
  assert.equal(readFileSync(join(layout, "index.json"), "utf8"), first);
});

/** The amd64 image, unpacked, and a volume. `exec` runs words in it as its user, as `docker exec` does. */
function container(t: TestContext) {
  const { manifest, config } = platform("amd64");
  const place = scratch(t);
  const [files, volume] = [join(place, "root"), join(place, "volume")];
  for (const folder of [files, volume]) mkdirSync(folder);
  for (const { digest } of manifest.layers)
    assert.equal(spawnSync("tar", ["-xzf", "-", "-C", files], { input: blob(digest) }).status, 0);
  chownSync(volume, 65532, 65532);
  const script = `mount --bind ${files} ${files} && mount --bind ${volume} ${files}/var/lib/box &&
    mount -t tmpfs -o noexec tmpfs ${files}/tmp && mount -o remount,bind,ro ${files} &&
    exec env -i ${config.config.Env.join(" ")} /usr/sbin/chroot --userspec=${config.config.User} ${files} "$@"`;
  const words = (command: string[]) => ["-m", "sh", "-c", script, "sh", "/usr/bin/box", ...command];
  return {
    config,
    exec: (...command: string[]) => spawnSync("unshare", words(command), { encoding: "utf8" }),
    start: async () => {
      const child = spawn("unshare", words(config.config.Cmd), {
        stdio: ["ignore", "pipe", "inherit"],
      });
      t.after(() => child.kill("SIGKILL"));
      for await (const part of child.stdout) if (String(part).includes("listening on")) break;
      return child;
    },
  };
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const end = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.kill(signal);
  return end;
}

test("it serves on a read-only root, and its volume outlives it", {
  skip: !isRoot && "needs root",
}, async (t) => {
  const { exec, start, config } = container(t);
  assert.deepEqual(config.config.Healthcheck.Test, ["CMD", "box", "health"]);
  const url = "http://127.0.0.1:8080";
  let box = await start();
  assert.equal(exec("health").status, 0);
  const code = /\b[0-9a-z]{48}\b/.exec(exec("pair-code").stdout)?.[0];
  assert.ok(code, "pair-code needs no flag");
  const post = async (path: string, body: object, token?: string) => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as { api_key: string } };
  };
  const paired = await post("/v1/pair", {
    code,
    display_name: "Ada",
    email: "ada@example.org",
    password: "correct horse battery",
  });
  assert.equal(paired.status, 200, JSON.stringify(paired.body));
  assert.equal((await post("/v1/projects", { name: "shop" }, paired.body.api_key)).status, 201);
  await ended(box, "SIGKILL");
  assert.equal(exec("health").status, 1);
  box = await start();
  const projects = await fetch(`${url}/v1/projects`, {
    headers: { authorization: `Bearer ${paired.body.api_key}` },
  });
  assert.equal(projects.status, 200);
  assert.match(await projects.text(), /"shop"/);
  assert.equal(await ended(box, "SIGTERM"), 0);
});
