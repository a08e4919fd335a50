import assert from "node:assert/strict";
import { type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isOwnUsers } from "../../src/ground/kit/peer-user.ts";
import { needs } from "../support/commands.ts";
import { programFile } from "../support/program.ts";

/** Whoever serves the box here: root's browsers aren't told from those that root's proxies speak for. */
const isRoot = process.getuid?.() === 0;
const owner: SpawnOptions = isRoot ? { uid: 65534, gid: 65534 } : {};

async function served(t: TestContext): Promise<{ url: string; data: string } | null> {
  const program = await programFile();
  // Where another user may read neither Node nor the program, there is nothing to be tried.
  if (spawnSync(process.execPath, ["--check", program], owner).status !== 0) return null;
  const root = mkdtempSync(join(tmpdir(), "box-first-owner-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  if (isRoot) chownSync(root, 65534, 65534);
  const data = join(root, "data");
  const words = [program, "serve", "--data", data, "--listen", "127.0.0.1:0"];
  const env = { PATH: process.env["PATH"], HOME: root };
  const child = spawn(process.execPath, words, { ...owner, env, cwd: root });
  const gone = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  t.after(async () => {
    child.kill("SIGKILL");
    await gone;
  });
  let said = "";
  child.stderr?.on("data", (text) => (said += text));
  return new Promise((resolve, reject) => {
    child.on("exit", () => reject(new Error(said)));
    child.stdout?.on("data", (text) => {
      said += text;
      const url = /listening on (\S+)/.exec(said)?.[1];
      if (url !== undefined) resolve({ url, data });
    });
  });
}

test(
  "whoever opens a new box on its machine, as the user who runs it, makes the owner's account; nobody else does",
  needs("curl"),
  async (t) => {
    const box = await served(t);
    if (box === null) return t.skip("another user can't read the program");
    const { url } = box;
    const ask = (words: string[], as: SpawnOptions = owner) => {
      const all = ["-si", "-H", "Accept: text/html", ...words, `${url}/signin`];
      return String(spawnSync("curl", all, { ...as, encoding: "utf8" }).stdout);
    };
    const press = ["-H", `Origin: ${url}`, "-d", ""];
    const offered = /Make the first account/;
    assert.match(ask([]), offered);
    const others: [string[], SpawnOptions?][] = [
      [["-H", "X-Forwarded-For: 192.0.2.1"]],
      [["-H", "Via: 1.1 proxy"]],
      [["-H", `Host: box.example:${new URL(url).port}`]],
      // Root serves it for whom it likes.
      ...(isRoot ? [[[], {}] as [string[], SpawnOptions]] : []),
    ];
    for (const [words, as] of others) {
      const seen = ask(words, as);
      assert.match(seen, /This box has no account yet/);
      assert.doesNotMatch(seen, offered);
      assert.doesNotMatch(ask([...words, ...press], as), /#code=/);
    }
    assert.match(ask(["-H", "Origin: http://evil.example", "-d", ""]), /^HTTP\/1\.1 403 /);
    const pressed = ask(press);
    assert.match(pressed, /^HTTP\/1\.1 303 /);
    const code = /^location: \/pair#code=([0-9a-f]{48})\r$/im.exec(pressed)?.[1];
    assert.ok(code !== undefined, pressed);
    const paired = await fetch(`${url}/v1/pair`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code, email: "ann@example.org", password: "correct horse" }),
    });
    assert.equal(paired.status, 200);
    const { api_key: key } = (await paired.json()) as { api_key: string };
    const headers = { authorization: `Bearer ${key}` };
    const { accounts } = (await (await fetch(`${url}/v1/accounts`, { headers })).json()) as {
      accounts: { role: string }[];
    };
    assert.deepEqual(
      accounts.map(({ role }) => role),
      ["owner"],
    );
    const { entries } = (await (await fetch(`${url}/v1/audit`, { headers })).json()) as {
      entries: { via: string; hint: string; target: { kind: string } }[];
    };
    assert.ok(
      entries.some(
        ({ via, hint, target }) =>
          via === "page" && hint === "machine" && target.kind === "pairing_code",
      ),
      "the code's making is in the audit",
    );
    assert.doesNotMatch(ask([]), offered);
    assert.doesNotMatch(ask(press), /#code=/);
  },
);

test("a connection that isn't between two programs of one user of this machine is nobody's", () => {
  const ends = {
    remotePort: 9,
    localPort: 9,
    remoteAddress: "127.0.0.1",
    localAddress: "127.0.0.1",
  };
  for (const [other, user] of [
    [{}, 1000],
    [{ remoteAddress: "192.0.2.1" }, 1000],
    [{ remoteAddress: "127.0.0.2" }, 1000],
    [{ localAddress: "192.0.2.1" }, 1000],
    [{ remoteAddress: undefined }, 1000],
    [{}, 0],
  ] as const)
    assert.equal(isOwnUsers({ ...ends, ...other }, user), false);
});
