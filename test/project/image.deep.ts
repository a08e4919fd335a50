import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { chownSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { scratch } from "../support/scratch.ts";

/*
 * The image that `npm run image` made, used as a container runtime would: unpacked, its root mounted read-only, its own
 * user, its own command. Root is needed for the mounts.
 */
const root = join(import.meta.dirname, "../..");
const layout = join(root, "dist/image");
const isRoot = process.getuid?.() === 0;

/** An image made before, of other sources: what is upgraded from, and gone back to. Without one it is this image again. */
const earlier = process.env["BOX_IMAGE_BEFORE"] ?? layout;

const blob = (digest: string, of = layout) =>
  readFileSync(join(of, "blobs", digest.replace(":", "/")));
const parsed = (digest: string, of = layout) => JSON.parse(blob(digest, of).toString());

interface Manifest {
  config: { digest: string };
  layers: { digest: string }[];
}

/** A platform's manifest and configuration. */
function platform(architecture: string, of = layout) {
  const top = JSON.parse(readFileSync(join(of, "index.json"), "utf8"));
  const index = parsed(top.manifests[0].digest, of);
  const found = index.manifests.find(
    (one: { platform: { architecture: string } }) => one.platform.architecture === architecture,
  );
  const manifest: Manifest = parsed(found.digest, of);
  return { manifest, config: parsed(manifest.config.digest, of) };
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

/** The amd64 image, unpacked, on a volume. `exec` runs words in it as its user, as `docker exec` does. */
function container(t: TestContext, volume: string, of: string) {
  const { manifest, config } = platform("amd64", of);
  const files = join(scratch(t), "root");
  mkdirSync(files);
  for (const { digest } of manifest.layers) {
    const unpacked = spawnSync("tar", ["-xzf", "-", "-C", files], { input: blob(digest, of) });
    assert.equal(unpacked.status, 0);
  }
  // The page goes to this machine.
  const env = [...config.config.Env, "BOX_EGRESS_ALLOW=127.0.0.0/8"].join(" ");
  const script = `mount --bind ${files} ${files} && mount --bind ${volume} ${files}/var/lib/box &&
    mount -t tmpfs -o noexec tmpfs ${files}/tmp && mount -o remount,bind,ro ${files} &&
    exec env -i ${env} /usr/sbin/chroot --userspec=${config.config.User} ${files} "$@"`;
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

const URL = "http://127.0.0.1:8080";

async function call(method: string, path: string, body: object | null, token = "") {
  const answer = await fetch(URL + path, {
    method,
    headers: token === "" ? {} : { authorization: `Bearer ${token}` },
    ...(body !== null && { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
  return { status: answer.status, body: (await answer.json()) as any };
}

/** An owner whom a webhook reaches, and a rule that pages them; how to send an event that opens an alert of its own. */
async function settled(code: string, receiver: Receiver) {
  const person = {
    display_name: "Ada",
    email: "ada@example.org",
    password: "correct horse battery",
  };
  const { body: paired } = await call("POST", "/v1/pair", { code, ...person });
  const key = String(paired.api_key);
  const need = async (path: string, body: object, status: number) => {
    const answer = await call("POST", path, body, key);
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    return answer.body;
  };
  await need("/v1/projects", { name: "shop" }, 201);
  const { token } = await need("/v1/projects/shop/sources", { name: "web" }, 201);
  const contacts = "/v1/accounts/me/contacts";
  const hook = { kind: "webhook", label: "me", address: `${receiver.url}/me` };
  const { id } = await need(contacts, hook, 201);
  await need(`${contacts}/${id}/verify`, {}, 200);
  const { code: seen } = JSON.parse((await receiver.next()).body);
  await need(`${contacts}/${id}/verify`, { code: seen }, 200);
  const { accounts } = (await call("GET", "/v1/accounts", null, key)).body;
  const escalations = [{ accounts: [accounts[0].id], after_minutes: 0 }];
  const rule = { name: "all", identifier_keys: ["n"], escalations };
  await need("/v1/projects/shop/rules", rule, 201);
  return async (n: string) => {
    const event = { message: "it fails", level: 400, keys: { n } };
    assert.equal((await call("POST", "/v1/ingest", event, token)).status, 202);
    assert.equal(JSON.parse((await receiver.next()).body).purpose, "page");
    const { alerts } = (await call("GET", "/v1/alerts?state=open", null, key)).body;
    return alerts.map((one: { identifiers: { n: string } }) => one.identifiers.n).sort();
  };
}

test("it serves, pages, is killed, upgraded on its volume and taken back, on a read-only root", {
  skip: !isRoot && "needs root",
  timeout: 600_000,
}, async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const volume = scratch(t);
  chownSync(volume, 65532, 65532);
  const [old, next] = [container(t, volume, earlier), container(t, volume, layout)];
  assert.deepEqual(next.config.config.Healthcheck.Test, ["CMD", "box", "health"]);
  let box = await old.start();
  assert.equal(old.exec("health").status, 0);
  const code = /\b[0-9a-z]{48}\b/.exec(old.exec("pair-code").stdout)?.[0];
  assert.ok(code, "pair-code needs no flag");
  const page = await settled(code, receiver);
  assert.deepEqual(await page("1"), ["1"]);
  await ended(box, "SIGKILL");
  assert.equal(old.exec("health").status, 1);
  box = await old.start();
  assert.deepEqual(await page("2"), ["1", "2"]);
  assert.equal(await ended(box, "SIGTERM"), 0);
  box = await next.start();
  assert.equal(next.exec("health").status, 0);
  assert.deepEqual(await page("3"), ["1", "2", "3"]);
  assert.equal(await ended(box, "SIGTERM"), 0);
  // Where the next one has another schema, the way back begins at the copy that it made before it changed anything.
  const copy = readdirSync(volume).find((name) => /^box\.db\.schema-\d+$/.test(name));
  if (copy !== undefined) {
    const restored = old.exec("restore", `/var/lib/box/${copy}`, "--replace");
    assert.equal(restored.status, 0, restored.stderr);
  }
  box = await old.start();
  const kept = copy === undefined ? ["1", "2", "3"] : ["1", "2"];
  assert.deepEqual(await page("4"), [...kept, "4"]);
  assert.equal(await ended(box, "SIGTERM"), 0);
});
