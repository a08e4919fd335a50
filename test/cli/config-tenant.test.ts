import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import { scratch } from "../support/scratch.ts";

async function scene(t: TestContext) {
  const server = await startReceiver();
  const box = await testBox();
  t.after(async () => {
    await box.stop();
    await server.close();
  });
  server.always(answer(200, { username: "box" }));
  const path = join(scratch(t), "box.yaml");
  const write = (text: string) => writeFileSync(path, text);
  const config = (words: string[], key = box.owner.key, more: Record<string, string> = {}) =>
    run(["config", ...words], {
      env: { BOX_URL: box.url, BOX_KEY: key, NTFY_TOKEN: "tk_canary", ...more },
    });
  const apply = (...words: string[]) => config(["apply", path, ...words]);
  return { box, server, write, config, apply };
}

const fileFor = (url: string) => `format: 1
tenant:
  gateways:
    - kind: ntfy
      url: ${url}
      access_token: {env: NTFY_TOKEN}
  fallback:
    people: [ann@example.org]
    schedules: [shop/primary]
projects:
  - name: shop
    schedules:
      - name: primary
        timezone: UTC
`;

test("gateways and the fallback stand in the file, with secrets as references; twice is once", async (t) => {
  const { box, server, write, config, apply } = await scene(t);
  const ann = box.person("member", "ann@example.org");
  write(fileFor(server.url));
  const plan = await apply("--dry-run");
  assert.match(
    plan.out,
    /\nthe whole box\n {2}create gateway ntfy\n {2}update fallback ann@example\.org, shop\/primary\n$/,
    plan.err,
  );
  const gateways = async () => (await box.api("GET", "/v1/gateways")).body.gateways;
  assert.deepEqual(await gateways(), [], "a plan changes nothing");

  const applied = await apply();
  assert.match(applied.out, /\napplied 3 changes\n/, applied.err);
  assert.equal(server.received.at(-1)?.headers["authorization"], "Bearer tk_canary");
  const [{ kind, url }] = await gateways();
  assert.deepEqual([kind, url], ["ntfy", server.url]);
  assert.deepEqual((await box.api("GET", "/v1/fallback")).body, {
    accounts: [ann.accountId],
    schedules: ["shop/primary"],
    people: [{ account_id: ann.accountId, email: "ann@example.org" }],
  });

  const again = await apply();
  assert.match(again.out, /\nthe whole box\n {2}nothing changes\napplied 0 changes\n$/);
  const exported = await config(["export"]);
  assert.match(
    exported.out,
    /^format: 1\ntenant:\n {2}gateways:\n {4}- kind: ntfy\n {6}url: http:\S+\n {2}fallback:\n {4}people:\n {6}- ann@example\.org\n {4}schedules:\n {6}- shop\/primary\nprojects:/,
  );
  assert.equal(exported.out.includes("canary"), false);
  write(exported.out);
  assert.match((await apply()).out, /applied 0 changes\n$/, "what was exported changes nothing");
  const admin = box.person("admin", "eve@example.org");
  assert.match((await config(["export"], admin.key)).out, /kind: ntfy/);
});

test("another secret is a change, and what the service refuses changes nothing", async (t) => {
  const { box, server, write, apply } = await scene(t);
  box.person("member", "ann@example.org");
  write(fileFor(server.url));
  await apply();
  const file = fileFor(server.url).replace("{env: NTFY_TOKEN}", "{file: token}");
  write(file);
  assert.match((await apply()).err, /token/, "the file isn't there");
  write(fileFor(server.url).replace("NTFY_TOKEN", "HOME"));
  assert.match((await apply("--dry-run")).out, /update gateway ntfy/);
  server.always(answer(401));
  const refused = await apply();
  assert.equal(refused.code, 1);
  assert.match(
    refused.err,
    /^box: gateway ntfy: The test of these settings failed, so nothing was changed: http 401/,
  );
});

test("a gateway that isn't in the file goes only with --delete, and without the section all stay", async (t) => {
  const { box, server, write, apply } = await scene(t);
  const set = { url: server.url };
  assert.equal((await box.api("PUT", "/v1/gateways/ntfy", set)).status, 200);
  write("format: 1\nprojects: []\n");
  assert.equal((await apply("--delete")).out, "applied 0 changes\n");
  write("format: 1\ntenant:\n  gateways: []\n");
  const kept = await apply();
  assert.match(kept.err, /this would delete\n {2}gateway ntfy\n--delete deletes it/);
  assert.match((await apply("--delete")).out, /delete gateway ntfy\napplied 1 changes/);
  assert.deepEqual((await box.api("GET", "/v1/gateways")).body.gateways, []);
});

test("what is wrong in the section is told with its line", async (t) => {
  const { write, apply } = await scene(t);
  const wrong = async (text: string) => {
    write(`format: 1\ntenant:\n  gateways:\n${text}`);
    const { code, err } = await apply();
    assert.notEqual(code, 0);
    return err;
  };
  assert.match(
    await wrong("    - kind: telegram\n      token: 1:abc\n"),
    /line 5: \/tenant\/gateways\/0\/token is a secret: "kept", \{env: NAME\}/,
  );
  assert.match(
    await wrong("    - kind: email\n      host: {env: HOME}\n"),
    /line 5: \/tenant\/gateways\/0\/host is no secret/,
  );
  assert.match(
    await wrong("    - kind: telegram\n      token: kept\n"),
    /gateway telegram: .*\nline \d: \/tenant\/gateways\/0\/token is needed/,
  );
  assert.match(await wrong("    - kind: pigeon\n"), /must be one of email, twilio, ntfy/);
  write("format: 1\ntenant:\n  fallback: {people: [nobody@example.org]}\n");
  assert.match((await apply()).err, /there is no account "nobody@example\.org"/);
});

test("the keys that browsers' push services know a box by stay its own, whatever a file says", async (t) => {
  const { box, write, config, apply } = await scene(t);
  const other = await testBox();
  t.after(() => other.stop());
  const keyOf = async (of: TestBox) =>
    (await of.api("GET", "/v1/push/key")).body.public_key as string;
  // Both draw from the same seed: this one has drawn more.
  await other.project("p");
  const theirs = await keyOf(other);
  const env = { BOX_URL: other.url, BOX_KEY: other.owner.key };
  const exported = await run(["config", "export"], { env });
  write(exported.out);
  assert.equal((await apply()).code, 0);
  const ours = await keyOf(box);
  assert.notEqual(ours, theirs);
  assert.ok(!(await config(["export"])).out.includes(ours));

  // As files had it that were exported before.
  write(
    `format: 1\ntenant:\n  gateways:\n    - kind: web_push\n      public_key: ${theirs}\nprojects: []\n`,
  );
  const refused = await apply();
  assert.equal(refused.code, 1);
  assert.match(
    refused.err,
    /gateway web_push: .*\n?.*line 5: .*public_key is not the key of private_key/,
  );
  for (const body of [
    { public_key: "garbage" },
    { private_key: "garbage" },
    { public_key: theirs, private_key: "garbage" },
  ])
    assert.equal((await box.api("PUT", "/v1/gateways/web_push", body)).status, 400);
  assert.equal(await keyOf(box), ours);
  const kept = { public_key: ours, subject: "mailto:ann@example.org" };
  assert.equal((await box.api("PUT", "/v1/gateways/web_push", kept)).status, 200);
  assert.equal(await keyOf(box), ours);
});
