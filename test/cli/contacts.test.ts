import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { type TestContext, test } from "node:test";
import { runProgram } from "../../cli/box.ts";
import { createProgram } from "../../cli/program.ts";
import { onTerminal } from "../../cli/terminal.ts";
import { testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { toldIn } from "../support/contacts.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

async function scene(t: TestContext) {
  const receiver = await startReceiver();
  const served = await testBox();
  t.after(async () => {
    await served.stop();
    await receiver.close();
  });
  const ann = served.person("member", "ann@example.org");
  const as = (key: string) => ({ BOX_URL: served.url, BOX_KEY: key });
  const owner = (...words: string[]) => run(words, { env: as(served.owner.key) });
  const box = (...words: string[]) => run(words, { env: as(ann.key) });
  const code = () => toldIn(receiver.received.at(-1)).code ?? "";
  /** Adds and verifies a webhook of Ann's; its id. */
  const add = async (label: string) => {
    const said = await box(
      "contact",
      "add",
      "webhook",
      `${receiver.url}/${label}`,
      "--label",
      label,
    );
    assert.equal(said.code, 0, said.err);
    const id = said.out.split("\n")[0] ?? "";
    assert.equal((await box("contact", "verify", label, code())).code, 0);
    return id;
  };
  return { receiver, served, ann, as, owner, box, code, add };
}

test("a contact from the terminal: added, verified by its code, tested, switched, deleted", async (t) => {
  const { receiver, box, code } = await scene(t);
  assert.match((await box("contact", "list")).out, /^no contacts/);
  const made = await box("contact", "add", "webhook", `${receiver.url}/a`, "--label", "phone");
  const [id = "", secret, hint] = made.out.split("\n");
  assert.match(secret ?? "", /^secret whsec_\S+ \(shown this once\)$/);
  assert.equal(hint, `A code was sent: box contact verify ${id} CODE`);
  assert.match(
    (await box("contact", "list")).out,
    new RegExp(`^${id}  webhook +phone +\\S+  unverified +`, "m"),
  );
  const wrong = await box("contact", "verify", "phone", code() === "111111" ? "222222" : "111111");
  assert.deepEqual([wrong.code, /not the code that was sent/.test(wrong.err)], [1, true]);
  assert.match(
    (await box("contact", "verify", "phone")).out,
    /^A code was sent: box contact verify/,
  );
  assert.match(
    (await box("contact", "verify", "phone", code())).out,
    /^phone \(webhook .*\) is verified\n$/,
  );
  assert.equal((await box("contact", "test", id)).out, "it got through\n");
  receiver.once(answer(500));
  const failed = await box("contact", "test", "webhook");
  assert.deepEqual([failed.code, failed.err], [1, "box: it did not get through: http 500\n"]);
  assert.match((await box("contact", "off", "phone")).out, / is off\n$/);
  assert.match((await box("contact", "list")).out, / off /);
  assert.match((await box("contact", "on", "phone")).out, / is on\n$/);
  const none = await box("contact", "test", "phome");
  assert.equal(none.err, 'box: there is no contact "phome"; there is phone\n');
  assert.match((await box("contact", "delete", "phone")).out, /^deleted phone/);
});

test("at a terminal the code is asked for until it is right", async (t) => {
  const { receiver, ann, as, code } = await scene(t);
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const said = { out: "", err: "" };
  const pipe = (name: "out" | "err") =>
    new PassThrough().on("data", (chunk) => (said[name] += chunk));
  const env = { ...as(ann.key), HOME: "/nonexistent" };
  const terminal = { env, stdin, stdout: pipe("out"), stderr: pipe("err") };
  const words = ["contact", "add", "webhook", `${receiver.url}/a`, "--url", env.BOX_URL];
  const running = onTerminal(terminal, () =>
    runProgram(createProgram(), [...words, "--key", env.BOX_KEY]),
  );
  await until(() => /The code that was sent by/.test(said.err), "it asks");
  stdin.write(`${code() === "111111" ? "222222" : "111111"}\n`);
  await until(() => /4 tries left/.test(said.err), "it says that it was wrong");
  stdin.write(`${code()}\n`);
  assert.equal(await running, 0);
  await until(() => / is verified\n$/.test(said.out), "it says so");
});

test("rules are written as people say them, shown as they are written, and name contacts by label, kind or id", async (t) => {
  const { box, add } = await scene(t);
  assert.match((await box("notify", "show")).out, /^no rules: all verified contacts at once/);
  const phone = await add("phone");
  const mail = await add("mail");
  const call = await add("call");
  const rules = ["--rule", "0s: phone, mail", "--rule", "2m: call min critical"];
  const set = await box("notify", "set", ...rules);
  assert.equal(set.out, "0s: phone, mail\n2m: call min 500\n", set.err);
  assert.equal((await box("notify", "show")).out, set.out);
  assert.deepEqual(JSON.parse((await box("notify", "show", "--json")).out).rules, [
    { after_seconds: 0, contacts: [phone, mail], min_level: 0 },
    { after_seconds: 120, contacts: [call], min_level: 500 },
  ]);
  const one = await box("notify", "set", "--rule", `90s: ${mail}`);
  const [only, ...idle] = one.out.trimEnd().split("\n");
  assert.equal(only, "90s: mail");
  assert.match(
    idle.toSorted().join("\n"),
    /^not used: call \(.*, no rule names it\nnot used: phone/,
  );
  const all = await box("notify", "set", "--rule", "0: webhook");
  assert.deepEqual(all.out.trimEnd().split(/: |, /).toSorted(), ["0s", "call", "mail", "phone"]);
  for (const bad of [
    ["--rule", "now: phone"],
    ["--rule", "phone"],
    [],
    ["--usual", "--rule", "0: a"],
  ])
    assert.equal((await box("notify", "set", ...bad)).code, 2, bad.join(" "));
  assert.match(
    (await box("notify", "set", "--rule", "0: pone")).err,
    /no contact "pone"; there is phone/,
  );
  assert.match((await box("notify", "set", "--usual")).out, /^no rules/);
});

test("a manager sees and sets somebody's, and a member nobody else's", async (t) => {
  const { owner, box, add } = await scene(t);
  await add("phone");
  assert.match((await owner("contact", "list", "--person", "ann@example.org")).out, / phone /);
  const set = await owner("notify", "set", "--person", "ann@example.org", "--rule", "0: phone");
  assert.equal(set.out, "0s: phone\n", set.err);
  const other = await box("contact", "list", "--person", "owner@example.org");
  assert.equal(other.code, 1, other.out);
  assert.match((await owner("notify", "show", "--person", "bob")).err, /there is no account "bob"/);
});

test("a gateway is set with secrets from the environment or standard input, listed without them, deleted", async (t) => {
  const { receiver, served, owner, box } = await scene(t);
  const env = { BOX_URL: served.url, BOX_KEY: served.owner.key };
  assert.match((await owner("gateway", "list")).out, /^no gateways/);
  receiver.once(answer(401));
  const refused = await owner("gateway", "set", "ntfy", "--server", receiver.url);
  assert.deepEqual(
    [
      refused.code,
      /The test of these settings failed, so nothing was changed: http 401/.test(refused.err),
    ],
    [1, true],
  );
  receiver.always(answer(200, { username: "*" }));
  const words = ["gateway", "set", "ntfy", "--server", receiver.url, "--access-token", "-"];
  const set = await run(words, { env, input: "tk_canary_input\n" });
  assert.equal(set.out, "ntfy works and is stored\n", set.err);
  assert.equal(receiver.received.at(-1)?.headers["authorization"], "Bearer tk_canary_input");
  const more = { ...env, BOX_GATEWAY_NTFY_ACCESS_TOKEN: "tk_canary_env" };
  assert.equal((await run(["gateway", "set", "ntfy"], { env: more })).code, 0);
  assert.equal(receiver.received.at(-1)?.headers["authorization"], "Bearer tk_canary_env");
  const listed = await owner("gateway", "list");
  assert.match(listed.out, new RegExp(`^ntfy +${receiver.url}`, "m"));
  assert.equal(/canary/.test(listed.out), false);
  const mail = ["gateway", "set", "email", "--host", "127.0.0.1", "--from", "box@example.org"];
  assert.match((await owner(...mail, "--no-test")).out, /wasn't tried/);
  assert.match(
    (await owner("gateway", "list")).out,
    /email .* host=127.0.0.1 from=box@example.org/,
  );
  assert.equal((await box("gateway", "list")).code, 1, "a member sees none");
  assert.equal((await owner("gateway", "delete", "email")).out, "deleted email\n");
  const two = ["gateway", "set", "twilio", "--auth-token", "-", "--api-secret", "-"];
  assert.match((await owner(...two)).err, /only one of .* standard input/);
});

test("who is paged when nobody can be reached is set by people's names", async (t) => {
  const { served, owner } = await scene(t);
  assert.equal((await owner("fallback", "show")).out, "every owner\n");
  await served.project("shop");
  await served.api("POST", "/v1/projects/shop/oncall/schedules", {
    name: "primary",
    timezone: "UTC",
    layers: [],
  });
  const set = await owner(
    "fallback",
    "set",
    "--person",
    "ann@example.org",
    "--schedule",
    "shop/primary",
  );
  assert.equal(set.out, "ann@example.org\nthe person on call in shop/primary\n", set.err);
  assert.equal((await owner("fallback", "show")).out, set.out);
  assert.equal((await owner("fallback", "set", "--owners")).out, "every owner\n");
  assert.equal((await owner("fallback", "set")).code, 2);
});
