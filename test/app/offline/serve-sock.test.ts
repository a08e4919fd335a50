import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, symlinkSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import type { Command } from "commander";
import { createProgram } from "../../../cli/program.ts";
import { standbyAnswer } from "../../../src/app/offline/desk.ts";
import { serveDesk } from "../../../src/app/offline/serve-sock.ts";
import { silentLog } from "../../../src/ground/kit/log.ts";
import { keyIdOf } from "../../../src/ground/kit/seal.ts";
import { getMeta } from "../../../src/ground/store/meta.ts";
import { openSession } from "../../../src/people/sessions.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { box as run } from "../../support/command-line.ts";
import { servedBefore } from "../../support/data.ts";
import { handGate, heldBack } from "../../support/gate.ts";
import { scratch } from "../../support/scratch.ts";
import { until } from "../../support/until.ts";

/** Commands on the data directory of a box that serves. */

/** What a command needs, and what it says. */
interface Story {
  box: TestBox;
  home: string;
}

/** Commands that the serving box does, with what is typed. */
const asks: Record<string, (story: Story) => (string | number)[]> = {
  "pair-code": () => [],
  quickstart: ({ box }) => [
    "--url",
    box.url,
    "--email",
    "q@example.org",
    "--by",
    "ntfy",
    "--address",
    "",
    "--no-test",
  ],
  "account set-role": ({ box }) => [box.person("member").accountId, "admin"],
  "account remove": ({ box }) => [box.person("member").accountId],
  "account set-password": ({ box }) => [box.person("member").accountId, "--password-file", "-"],
  "key create": ({ box }) => [box.person("member").accountId],
  "key revoke": ({ box }) => {
    const { accountId } = box.person("member");
    const sql = "SELECT id FROM api_keys WHERE account_id = ?";
    return [String(box.tenant.store.sql(sql).pluck().get(accountId))];
  },
  "session end": ({ box }) => [session(box)],
  "sign-in password": () => ["on"],
  "key-file rotate": () => [],
  backup: ({ home }) => [join(home, "copy.db")],
};

/** Commands that only read the store, or write other files alone. */
const looks = [
  "account list",
  "key list",
  "session list",
  "status",
  "health",
  "doctor",
  "key-file add",
];
/** Commands for a directory that nobody serves, and for one of the hosted service. */
const notServed = /^(serve|restore|hosted .+)$/;

function session({ tenant, owner }: TestBox): string {
  const from = { address: "192.0.2.1", agent: "a browser" };
  const by = { method: "password", keyId: null } as const;
  const about = { accountId: owner.accountId, ...by, ...from };
  return tenant.store.write((tx) => openSession(tx, about).id);
}

function onData(command: Command, before: string[] = []): string[] {
  return command.commands.flatMap((each) => {
    const words = [...before, each.name()];
    const own = each.options.some(({ long }) => long === "--data") ? [words.join(" ")] : [];
    return [...own, ...onData(each, words)];
  });
}

test("every command that changes a served store is done by the box, and answered when that is durable", async (t) => {
  const gate = handGate();
  t.after(() => gate.open());
  const box = await testBox({}, undefined, undefined, { durable: gate.durable });
  t.after(() => box.stop());
  const names = onData(createProgram());
  const known = [...Object.keys(asks), ...looks];
  assert.deepEqual(names.filter((name) => !notServed.test(name)).sort(), known.sort());
  const home = scratch(t);
  /** Changes with each commit of another connection. */
  const others = () => box.tenant.store.sql("PRAGMA data_version").pluck().get();
  const before = others();
  for (const [name, typed] of Object.entries(asks)) {
    const words = [...name.split(" "), ...typed({ box, home }), "--data", box.data];
    const how = { env: { HOME: home }, input: "a long password\n" };
    const act = () => run(words, how);
    const { code, out, err } = await heldBack(gate, box.url, { what: name, act });
    // There is no contact of such a kind; the account is made before.
    assert.equal(code, name === "quickstart" ? 1 : 0, `${name}: ${out}${err}`);
    assert.equal(others(), before, `${name}: nobody else wrote the store`);
    if (name !== "backup") assert.equal(told(box), name === "quickstart" ? "pairing" : "command");
  }
  const verbs = "SELECT verb FROM audit WHERE via = 'command' GROUP BY verb ORDER BY min(id)";
  assert.deepEqual(
    box.tenant.store.sql(verbs).pluck().all(),
    // A quickstart makes a pairing code.
    Object.keys(asks).filter((name) => name !== "backup" && name !== "quickstart"),
  );
  assert.ok(Number(getMeta(box.tenant.store, "last_backup")) > 0);
});

/** By which way the latest change was made that the audit knows. */
function told(box: TestBox): unknown {
  const sql = "SELECT via FROM audit WHERE via IN ('command', 'pairing') ORDER BY id DESC LIMIT 1";
  return box.tenant.store.sql(sql).pluck().get();
}

const place = (box: TestBox) => ["--data", box.data];

test("what the box refuses is refused by the command, in the same words and with the same code", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  for (const [words, code, says] of [
    [["account", "remove", "owner@example.org"], 1, /last owner/],
    [["account", "set-role", "owner@example.org", "king"], 2, /must be one of owner, admin/],
    [["key", "revoke", "0123456789abcdef"], 1, /There is no such/],
    [["pair-code", "--email", "no", "--ttl", "1"], 2, /no e-mail address.\n.*--ttl must be/],
  ] as const) {
    const said = await run([...words, ...place(box)]);
    assert.deepEqual([said.code, said.out], [code, ""], words.join(" "));
    assert.match(said.err, says);
  }
});

test("commands at one time are done one after the other", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const all = await Promise.all(
    Array.from({ length: 12 }, () => run(["pair-code", "--json", ...place(box)])),
  );
  const codes = all.map(({ out, err }) => JSON.parse(out || `{"err": "${err}"}`).code);
  assert.equal(new Set(codes).size, 12);
});

test("what is stored after a rotation is sealed with the new key, though nothing was opened since", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("shop");
  const { out } = await run(["key-file", "rotate", "--json", ...place(box)]);
  const made = await box.api("POST", "/v1/projects/shop/webhooks", {
    url: "https://hook.example/x",
    secret: "a secret of sixteen",
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const sealed = box.tenant.store.sql("SELECT sealed FROM integrations").pluck().get();
  assert.equal(keyIdOf(String(sealed)), JSON.parse(out).key_id);
});

/** What the socket answers to these bytes; "" where it only closes. */
function say(path: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const socket = connect(path, () => socket.write(bytes));
    socket.setEncoding("utf8").on("data", (more) => (said += more));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "EPIPE" || error.code === "ECONNRESET" ? resolve(said) : reject(error),
    );
    socket.on("close", () => resolve(said));
  });
}

test("a line that is no request changes nothing, and the next is answered", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const path = join(box.data, "serve.sock");
  const count = () => Number(box.tenant.store.sql("SELECT total_changes()").pluck().get());
  const before = count();
  const ask = (verb: unknown, given: unknown) => `${JSON.stringify({ verb, given })}\n`;
  for (const line of [
    "\n",
    "{\n",
    "GET / HTTP/1.1\r\n\r\n",
    "[]\n",
    '{"verb":"pair-code"}\n',
    ask("__proto__", []),
    ask("constructor", []),
    ask("pair-code", [{ email: 5 }]),
    ask("pair-code", []),
    ask("account remove", ["a", "b"]),
    ask("backup", ["x"]),
    ask("backup", [1.5]),
  ])
    assert.match(await say(path, line), /^\{"fault":\{"of":"usage","message":.*\}\}\n$/, line);
  assert.equal(await say(path, "x".repeat(70_000)), "");
  assert.equal(count(), before);
  assert.match(await say(path, ask("pair-code", [{}])), /^\{"answer":\{.*"code":"[0-9a-f]{48}"/);
});

const isRoot = process.geteuid?.() === 0;

test("nobody but the user who serves, and root, can connect", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const path = join(box.data, "serve.sock");
  assert.deepEqual(
    [lstatSync(path).mode & 0o777, lstatSync(box.data).mode & 0o777],
    [0o600, 0o700],
  );
  if (!isRoot) return t.diagnostic("SKIPPED in part: not root, so nobody else can be tried");
  // The socket itself keeps others out, were the directory open to them.
  chmodSync(box.data, 0o755);
  const code = `require("net").connect(${JSON.stringify(path)})
    .on("connect", () => console.log("connected")).on("error", (e) => console.log(e.code))
    .on("close", () => process.exit())`;
  const as = { uid: 65_534, gid: 65_534, cwd: "/" };
  const stranger = promisify(execFile)(process.execPath, ["-e", code], as);
  assert.equal((await stranger).stdout, "EACCES\n");
});

/** A box whose commits wait, in this directory: what it does itself can be told from what a command does. */
async function gatedIn(t: TestContext, data: string) {
  const gate = handGate();
  t.after(() => gate.open());
  servedBefore(data, "box");
  const box = await testBox({ data }, undefined, undefined, { durable: gate.durable });
  t.after(() => box.stop());
  return { gate, box };
}

test("the path of the directory may be longer than the address of a socket", async (t) => {
  const { gate, box } = await gatedIn(t, join(scratch(t), ..."long path".repeat(16).split(" ")));
  const act = () => run(["pair-code", ...place(box)]);
  const { code, err } = await heldBack(gate, box.url, { what: "pair-code", act });
  assert.equal(code, 0, err);
  await box.restart();
  assert.equal((await run(["pair-code", ...place(box)])).code, 0);
});

test("where no socket can be made the box serves, and commands open the store themselves", async (t) => {
  const data = join(scratch(t), "data");
  mkdirSync(join(data, "serve.sock"), { recursive: true, mode: 0o700 });
  const { gate, box } = await gatedIn(t, data);
  gate.shut();
  assert.equal((await run(["pair-code", ...place(box)])).code, 0);
});

test("a command follows no link to another socket", async (t) => {
  const data = join(scratch(t), "data");
  servedBefore(data, "box");
  const elsewhere = createServer(() => assert.fail("it was asked"));
  const path = join(scratch(t), "other.sock");
  await new Promise<void>((resolve) => elsewhere.listen(path, resolve));
  t.after(() => elsewhere.close());
  symlinkSync(path, join(data, "serve.sock"));
  if (isRoot) chownSync(data, 65_534, 65_534);
  assert.equal((await run(["pair-code", "--data", data])).code, 0);
});

test("a box that stops answers what it was asked, and takes nothing more", async (t) => {
  const { gate, box } = await gatedIn(t, join(scratch(t), "data"));
  gate.shut();
  const asked = gate.asked;
  const answer = run(["pair-code", ...place(box)]);
  while (gate.asked === asked) await (await fetch(`${box.url}/healthz`)).text();
  const again = box.restart();
  await until(() => !existsSync(join(box.data, "serve.sock")), "nobody else can ask");
  gate.open();
  assert.equal((await answer).code, 0);
  await again;
  assert.equal((await run(["pair-code", ...place(box)])).code, 0);
});

test("a machine that stands by sends nobody to one that serves where there is none", () => {
  assert.match(standbyAnswer("0123456789abcdef"), /Ask the one that serves .* is 0123456789abcdef/);
  assert.match(standbyAnswer(null), /nobody serves the box now: box doctor/);
});

test("a machine that stands by no longer doesn't wait for what it holds for another one", async (t) => {
  const data = scratch(t);
  const held: Socket[] = [];
  const desk = serveDesk(
    data,
    silentLog,
    async () => "",
    (socket) => void held.push(socket),
  );
  const asker = connect(join(data, "serve.sock"));
  t.after(() => {
    for (const socket of [asker, ...held]) socket.destroy();
  });
  await until(() => held.length === 1, "it is held");
  await desk?.close();
  assert.equal(held[0]?.destroyed, false);
});
