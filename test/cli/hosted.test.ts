import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { hostedConfig } from "../../src/app/hosted-config.ts";
import { type OfflineRegistry, withHosted } from "../../src/app/offline/hosted.ts";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { box, boxAnswer } from "../support/command-line.ts";
import { servedBefore } from "../support/data.ts";

const data = servedBefore(mkdtempSync(join(tmpdir(), "box-cli-hosted-")), "hosted");
after(() => rmSync(data, { recursive: true, force: true }));

const hosted = (...words: (string | number)[]) => boxAnswer(["hosted", ...words, "--data", data]);
const desk = <T>(use: (desk: OfflineRegistry) => Promise<T>) =>
  withHosted({ data, clock: systemClock, random: systemRandom }, use);

test("accounts, sessions, tenants and keys are made on the data directory", async () => {
  const { account_id } = await hosted("account", "add", "--email", "Ada@Example.com");
  assert.match(account_id, /^[0-9a-f]{16}$/);
  assert.deepEqual(await desk((d) => d.addAccount("ada@example.com")), { account_id });
  const { token } = await hosted("session", "add", "--email", "ada@example.com");
  assert.match(token, /^pts_[0-9A-Za-z]{43}$/);

  const { tenant_id } = await hosted("tenant", "add", "--kind", "hosted");
  const words = ["--tenant", tenant_id, "--email", "ada@example.com"];
  const { api_key } = await hosted("key", "add", ...words);
  assert.match(api_key, new RegExp(`^ptk_${tenant_id}_[0-9A-Za-z]{43}$`));
  const set = ["--box-url", "https://box.example", "--watch", 0, "--plan", "pro"];
  assert.deepEqual(await hosted("tenant", "set", tenant_id, ...set), {
    tenant_id,
    kind: "hosted",
    plan: "pro",
    box_url: "https://box.example",
    watch_seconds: 0,
  });
});

test("what can't be is refused with its reason", async () => {
  const cases: [(desk: OfflineRegistry) => Promise<unknown>, RegExp][] = [
    [(d) => d.addAccount("nobody"), /no e-mail address/],
    [(d) => d.addTenant({ kind: "box", owner: "nobody" }), /--owner: "nobody"/],
    [(d) => d.addTenant({ kind: "box", boxUrl: "ftp://x" }), /--box-url must/],
    [(d) => d.addTenant({ kind: "box", watch: "soon" }), /--watch must/],
    [(d) => d.addTenant({ kind: "box", owner: "nobody", watch: "x" }), /--owner: .*\n--watch must/],
    [(d) => d.setTenant("0123456789abcdef", { plan: "pro" }), /no such tenant/],
    [(d) => d.addSession("ghost@example.com"), /no such account/],
    [(d) => d.addKey({ tenant: "0123456789abcdef", email: "a@b.co" }), /no such tenant/],
  ];
  for (const [use, says] of cases) await assert.rejects(desk(use), says);
  for (const [flags, choices] of [
    [["tenant", "add", "--kind", "x"], "box, hosted"],
    [["tenant", "add", "--kind", "box", "--plan", "gold"], "free, pro"],
    [
      ["key", "add", "--tenant", "x", "--email", "a@b.co", "--role", "king"],
      "owner, admin, member",
    ],
  ] as const) {
    const { code, err } = await box(["hosted", ...flags, "--data", data]);
    assert.deepEqual([code, err.includes(`Allowed choices are ${choices}.`)], [2, true], err);
  }
});

test("the APNs key is a P-256 key in a file", async () => {
  const keyFile = join(data, "key.p8");
  const set = (endpoint?: string) =>
    desk((d) =>
      d.setApns({
        keyFile,
        keyId: "K",
        teamId: "T",
        topic: "app",
        ...(endpoint === undefined ? {} : { endpoint }),
      }),
    );
  const write = (key: KeyObject) =>
    writeFileSync(keyFile, key.export({ type: "pkcs8", format: "pem" }));
  await assert.rejects(set(), /can't be read \(ENOENT\)/);
  write(generateKeyPairSync("ec", { namedCurve: "secp384r1" }).privateKey);
  await assert.rejects(set(), /no P-256 private key/);
  write(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);
  await assert.rejects(set("http://localhost"), /must be https/);
  const words = ["--key-file", keyFile, "--key-id", "K", "--team-id", "T", "--topic", "app"];
  assert.deepEqual(await hosted("apns", "set", ...words), { set: true, topic: "app" });
});

test("the flags of serve: every fault at once, and rates are the plans' unless overridden", () => {
  assert.throws(
    () => hostedConfig({ listen: "nowhere", relayRate: "x" }),
    /--listen must.*--relay-rate must/s,
  );
  assert.deepEqual(hostedConfig({}).planRates, { free: 50, pro: 1000 });
  assert.deepEqual(hostedConfig({ ingestRate: "7" }).planRates, { free: 7, pro: 7 });
  assert.deepEqual([hostedConfig({}).host, hostedConfig({}).port], ["127.0.0.1", 8090]);
});
