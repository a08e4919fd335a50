import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { servedBefore } from "../support/data.ts";
import { scratch } from "../support/scratch.ts";

let served: TestBox;
before(async () => {
  served = await testBox();
  for (const name of ["shop", "zoo"]) await served.project(name);
  await served.api("POST", "/v1/projects/shop/rules", {
    name: "errors",
    match: { min_level: 400 },
  });
});
after(() => served.stop());

const box = (...words: string[]) =>
  run(words, { env: { BOX_URL: served.url, BOX_KEY: served.owner.key } });

/** What a failed command says, without `box: `. */
async function complaint(...words: string[]): Promise<string> {
  const { code, out, err } = await box(...words);
  assert.notEqual(code, 0, out);
  return err.replace(/^box: /, "").trimEnd();
}

test("what isn't there is named, with what there is, nearest first", async () => {
  const add = ["integration", "add-webhook", "shop", "http://127.0.0.1:9/x"];
  for (const name of ["chat", "pager"]) await box(...add, "--name", name);
  const { integrations } = JSON.parse((await box("integration", "list", "shop", "--json")).out);
  const shown = (name: string) =>
    `${name} (${integrations.find((each: { name: string }) => each.name === name).id})`;

  assert.equal(
    await complaint("source", "list", "shpo"),
    'there is no project "shpo"; there is shop, zoo',
  );
  assert.equal(
    await complaint("alerts", "--project", "zo"),
    'there is no project "zo"; there is zoo, shop',
  );
  assert.equal(
    await complaint("rule", "show", "shop", "eror"),
    'there is no rule "eror"; there is errors',
  );
  assert.equal(
    await complaint("rule", "show", "zoo", "any"),
    'there is no rule "any"; there is none yet: box rule set PROJECT FILE makes one',
  );
  assert.equal(
    await complaint("integration", "test", "shop", "pagr"),
    `there is no integration "pagr"; there is ${shown("pager")}, ${shown("chat")}`,
  );
  assert.match(
    await complaint("integration", "test", "shop", "0123456789abcdef"),
    /^there is no integration "0123456789abcdef"; there is (chat|pager) /,
  );
  assert.match(
    await complaint("ack", "77"),
    /^there is no alert "77"; there is none yet: none has opened/,
  );
});

test("a name that would steer the terminal is shown escaped", async () => {
  await box("report", "create", "shop", "red\u001b[31m");
  const { err } = await box("report", "show", "shop", "re\u001b[2J");
  assert.match(
    err,
    /^box: there is no report "re\\x1b\[2J"; there is red\\x1b\[31m \([0-9a-f]{16}\)\n$/,
  );
});

test("a channel, an action and a report are given by name or by id, unless two have the name", async () => {
  const add = ["integration", "add-webhook", "zoo", "http://127.0.0.1:9/x", "--name", "twin"];
  await box(...add);
  assert.equal((await box("integration", "disable", "zoo", "twin")).out, "disabled twin\n");
  await box("report", "create", "zoo", "Slow");
  assert.match((await box("report", "show", "zoo", "Slow")).out, /^title +Slow\n/);
  await box(...add);
  assert.match(
    await complaint("integration", "enable", "zoo", "twin"),
    /^2 integrations are called "twin": [0-9a-f]{16}, [0-9a-f]{16}$/,
  );
});

test("a refusal says each fault once", async () => {
  const limit = await complaint("alerts", "--limit", "0");
  assert.equal(limit, "--limit must be from 1 to 500");
  const file = join(served.data, "rule.json");
  writeFileSync(file, '{"name": "x", "match": {"min_level": "high"}, "max_renotify": -1}');
  const two = (await complaint("rule", "set", "shop", file)).split("\n").map((line) => line.trim());
  assert.deepEqual(two, [
    "/match/min_level must be an integer",
    "/max_renotify must be at least 0",
  ]);
});

test("a wrong kind of token is told by its prefix, before it is sent anywhere", async () => {
  const words = ["project", "list", "--url", "http://127.0.0.1:1"];
  const asKey = await run([...words, "--key", "pti_shop_x"]);
  assert.deepEqual(asKey.code, 2);
  assert.match(
    asKey.err,
    /^box: --key is an ingest token .* needed here is an API key .*box login/,
  );
  const session = await run(words, { env: { BOX_KEY: "pts_x" } });
  assert.match(session.err, /^box: BOX_KEY is a session token \(pts_…\) of the hosted service/);
  const asIngest = await run(["ingest", "--url", "http://127.0.0.1:1", "--token", "ptk_x_y"]);
  assert.deepEqual(asIngest.code, 2);
  assert.match(
    asIngest.err,
    /^box: --token is an API key .* needed here is an ingest token .*box source add/,
  );
});

test("a key that the box doesn't know is told with the place it is from", async () => {
  const { err } = await run(["project", "list"], {
    env: { BOX_URL: served.url, BOX_KEY: "ptk_a_b" },
  });
  assert.match(
    err,
    /^box: http:\S+ doesn't know the key from BOX_KEY: .*box login gets a new one\.\n$/,
  );
});

test("no answer: the address and what may be the matter, and no line of Node's", async () => {
  const key = ["--key", "ptk_a_b"];
  const gone = await run(["project", "list", "--url", "http://127.0.0.1:1", ...key]);
  assert.match(gone.err, /^box: no answer from http:\/\/127\.0\.0\.1:1: nothing listens there\./);
  const tls = await run([
    "project",
    "list",
    "--url",
    served.url.replace("http:", "https:"),
    ...key,
  ]);
  assert.match(tls.err, /doesn't speak TLS there\. Should it be http:\/\/ and not https:\/\/\?\n$/);
  const host = await run(["project", "list", "--url", "http://nowhere.invalid", ...key]);
  assert.match(host.err, /there is no such host/);
  const bad = await run(["project", "list", "--url", "localhost:8080", ...key]);
  assert.match(
    bad.err,
    /^box: --url must be an address like http:\/\/127\.0\.0\.1:8080, not "localhost:8080"/,
  );
});

test("serve where it can't listen: the address and what to do", async (t) => {
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  t.after(() => taken.close());
  const { port } = taken.address() as { port: number };
  const serve = (listen: string) => run(["serve", "--data", scratch(t), "--listen", listen]);
  const used = await serve(`127.0.0.1:${port}`);
  assert.equal(used.code, 1);
  assert.equal(
    used.err,
    `box: can't listen on 127.0.0.1:${port}: something else listens there already, maybe another box. Stop it, or give another --listen HOST:PORT\n`,
  );
  const foreign = await serve("192.0.2.1:0");
  assert.match(
    foreign.err,
    /^box: can't listen on 192\.0\.2\.1:0: this machine has no such address/,
  );
});

test("serve with TLS files that can't be used: the flag, the file and the fault", async (t) => {
  const directory = scratch(t);
  const fixtures = join(import.meta.dirname, "../fixtures");
  const [cert, key] = [join(fixtures, "localhost.crt"), join(fixtures, "localhost.key")];
  const [text, strange] = [join(directory, "text.pem"), join(directory, "other.pem")];
  writeFileSync(text, "nothing");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(strange, privateKey.export({ type: "pkcs8", format: "pem" }));
  const cases: [string, string, RegExp][] = [
    ["/nowhere.pem", key, /^box: --tls-cert \/nowhere\.pem: there is no such file\n$/],
    [text, key, /^box: --tls-cert \S+text\.pem holds no certificate chain in PEM\n$/],
    [
      cert,
      text,
      /^box: --tls-key \S+text\.pem holds no private key in PEM without a passphrase\n$/,
    ],
    [
      cert,
      strange,
      /^box: --tls-key \S+other\.pem is not the key of --tls-cert \S+localhost\.crt\n$/,
    ],
  ];
  const listen = ["--listen", "127.0.0.1:0"];
  for (const [certFile, keyFile, says] of cases) {
    const words = ["--tls-cert", certFile, "--tls-key", keyFile];
    const { code, err } = await run(["serve", "--data", scratch(t), ...listen, ...words]);
    assert.equal(code, 2, err);
    assert.match(err, says);
  }
});

test("files that can't be used: by name, without a system call", async () => {
  const cases: string[][] = [
    ["rule", "set", "shop", "/nowhere/rule.json"],
    ["config", "apply", "/nowhere/box.yaml"],
    ["ingest", "--token", "pti_x_y", "/nowhere/app.log"],
  ];
  for (const words of cases) {
    const said = await complaint(...words);
    assert.match(said, /\/nowhere\/.*there is no such file/, words.join(" "));
    assert.doesNotMatch(said, /ENOENT|open '/);
  }
});

test("what no box answers is said to be that, and what breaks off isn't an answer", async (t) => {
  const answers = {
    page: (_: IncomingMessage, to: ServerResponse) => to.end("<html>Sign in to the Wi-Fi</html>"),
    nothing: (_: IncomingMessage, to: ServerResponse) => to.writeHead(204).end(),
    other: (_: IncomingMessage, to: ServerResponse) => to.end("{}"),
    cut(_: IncomingMessage, to: ServerResponse) {
      to.writeHead(200, { "content-length": 100 });
      to.write('{"a', () => to.destroy());
    },
  };
  const said: Record<string, string[]> = {};
  for (const [name, answer] of Object.entries(answers)) {
    const server = createHttpServer(answer).listen(0, "127.0.0.1");
    t.after(() => server.close());
    await once(server, "listening");
    const env = {
      BOX_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      BOX_KEY: served.owner.key,
      BOX_TOKEN: "pti_0123456789abcdef_x",
    };
    said[name] = [];
    for (const words of [["overview"], ["source", "add", "shop", "x"], ["send", "x"], ["oncall"]]) {
      const { code, out, err } = await run(words, { env });
      const isTaken = name === "other" && ["source", "send"].includes(words[0] ?? "");
      if (isTaken) continue;
      assert.deepEqual([code, out], [1, ""], `${name}: ${words}`);
      said[name].push(err);
    }
  }
  for (const err of said["page"] ?? [])
    assert.match(err, /^box: an answer that isn't a box's: <html>Sign in to the Wi-Fi<\/html>$/m);
  for (const err of said["nothing"] ?? []) assert.match(err, /isn't a box's: nothing at all/);
  for (const err of said["other"] ?? []) assert.match(err, /has the box another version\?/);
  for (const err of said["cut"] ?? [])
    assert.match(err, /^box: no answer from http:\S+: the connection broke off/);
});

test("what is wrong with a file or a directory is said in words", async (t) => {
  const directory = scratch(t);
  const file = join(directory, "file");
  writeFileSync(file, "x");
  const data = servedBefore(join(directory, "data"), "box");
  for (const [words, code, said] of [
    [
      ["backup", "/nowhere/x.db", "--data", data],
      1,
      /\/nowhere\/x\.db: there is no such file or dir/,
    ],
    [["key-file", "add", "/nowhere", "--data", data], 2, /\/nowhere: there is no such file/],
    [["key-file", "add", directory, "--data", data], 2, /it is a directory, and a file is needed/],
    [["pair-code", "--data", file], 1, /There is no \S+file\/box\.db/],
    [["serve", "--data", file], 1, /file: it is there already/],
    [["serve", "--data", join(file, "x")], 1, /a part of its path is no directory/],
    [["pair-code", "--data", ""], 2, /'--data <dir>' argument '' is invalid\. It must name a dir/],
    [["doctor", "--data", file], 1, null],
  ] as const) {
    const { code: ended, out, err } = await run(words);
    assert.equal(ended, code, `${words}: ${err}`);
    if (said === null) assert.match(out, /WRONG +directory +\S+ is no directory/);
    else assert.match(err, said);
    assert.doesNotMatch(err, /E[A-Z]{4,}:/);
  }
});
