import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { systemClock } from "../../src/ground/kit/clock.ts";
import type { createEgress as CreateEgress } from "../../src/ground/kit/egress.ts";
import type { composeMail as ComposeMail } from "../../src/out/services/email/mail.ts";
import { listPasskeys } from "../../src/people/passkey.ts";
import type * as Passkeys from "../../src/people/passkeys.ts";
import { openSession } from "../../src/people/sessions.ts";
import { testApp } from "../support/app.ts";
import { authenticator, type Said } from "../support/authenticator.ts";

const root = join(import.meta.dirname, "../..");
const { bundlePrograms } = await import(join(root, "systemd/bundle.mjs"));
const { bundleParts } = await import(join(root, "systemd/parts.mjs"));
const { PROGRAM } = await import(join(root, "systemd/executable.mjs"));
const { billOfMaterials } = await import(join(root, "systemd/bill.mjs"));

interface Account {
  inputs: Record<string, unknown>;
  outputs: Record<string, { bytes: number; inputs: Record<string, { bytesInOutput: number }> }>;
}

const folder = mkdtempSync(join(tmpdir(), "box-bundle-"));
const require = createRequire(import.meta.url);
let parts: { texts: string[]; metafile: Account };

/** The program, and beside it what uses packages that are loaded only where they are needed. */
before(async () => {
  const define = { BOX_VERSION: "1.2.3", BOX_COMMIT: "abc", "import.meta.url": "file:///box" };
  parts = await bundleParts({ root, ...PROGRAM, define });
  await bundlePrograms({
    root,
    outdir: folder,
    entries: [
      "src/people/passkeys.ts",
      "src/out/services/email/mail.ts",
      "src/ground/kit/egress.ts",
    ],
    define,
  });
});
after(() => rmSync(folder, { recursive: true }));

/** Packages and the folders of this tree that have most bytes in it, for whoever has to find what grew. */
function largest(output: Account["outputs"][string]): string {
  const bytes = new Map<string, number>();
  for (const [file, { bytesInOutput }] of Object.entries(output.inputs)) {
    const [of = file] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+|^src\/[^/]+|^[^/]+/.exec(file) ?? [];
    bytes.set(of, (bytes.get(of) ?? 0) + bytesInOutput);
  }
  const found = [...bytes].sort(([, a], [, b]) => b - a).slice(0, 12);
  return found.map(([of, n]) => `${of.replace("node_modules/", "")} ${n}`).join(", ");
}

test("the executable's bundle grows only on purpose", () => {
  const [output = assert.fail()] = Object.values(parts.metafile.outputs);
  const sizes = parts.texts.map((text) => text.length);
  const bytes = sizes.reduce((sum, size) => sum + size);
  // 5.33 MB with holidays, 5.68 with the protocol of assistants (0.33 of it the package; its validator is left out), 5.80 with a second machine, 5.83 with what it sends on and hands over, 5.87 with datagrams, commands and tenants that machines send on, 5.89 with flags that machines compare, a box that stops without its database, a proof on two machines and what pages remember of alerts, 5.90 with pages for what was refused, 5.91 with words for whoever sees a page first, 5.94 in two parts, 5.96 in four, 5.98 with a fallback where no page gets through and upgrades beside other tenants, 5.99 with upgrades that fail, or are left to another machine, 6.00 with words for an unknown time zone. What few calls need and what nobody calls is looked for before this is raised.
  // One `import { z } from "zod"` brings all of zod: its languages, and what nobody calls of it. `* as z` doesn't.
  assert.ok(bytes <= 6_000_000, `${bytes} bytes: ${largest(output)}`);
  // V8 reads the first before the box listens, and the second soon after; the third stays in memory once a page was seen.
  // What isn't needed for that is imported where it is used, `await import()`.
  for (const [i, most] of [1_942_000, 930_000, 780_000].entries())
    assert.ok((sizes[i] ?? 0) <= most, `part ${i} has ${sizes[i]} bytes: ${sizes}`);
});

test("what is loaded as soon as the box listens leaves out Node's HTTP/2, which takes 1 MB of memory", () => {
  assert.equal(parts.texts[1]?.includes("node:http2"), false);
});

test("the bill of materials of a release names every package that is bundled", () => {
  const about = { version: "1.2.3", commit: "abc", time: 1_767_225_600 };
  const bill: {
    components: { name: string }[];
    dependencies: { ref: string; dependsOn: string[] }[];
  } = billOfMaterials(root, about, Object.keys(parts.metafile.inputs));
  const names = bill.components.map(({ name }) => name);
  // It may be missing from a machine, and is in the executable.
  assert.ok(names.includes("pg-cloudflare"));
  assert.ok(
    bill.dependencies.some(({ dependsOn }) => dependsOn.includes("pkg:npm/pg-cloudflare@1.4.1")),
  );
  assert.ok(!names.some((name) => name.startsWith("node-linux-")));
});

test("a passkey is added and signs in by the bundle, and one with its maker's certificates is refused", async (t) => {
  const app = testApp(t);
  const { store, ways } = app.tenant;
  const bundled: typeof Passkeys = require(join(folder, "passkeys.js"));
  const { accountId } = app.person("owner");
  const session = { accountId, method: "password", keyId: null, address: "192.0.2.7", agent: "" };
  const { id: sessionId } = store.write((tx) =>
    openSession(tx, { ...session, method: "password" }),
  );
  const party = { id: "box.example.org", origin: "https://box.example.org" };
  const asked = (purpose: string) => ({
    challenge: ways.challenges.make(purpose),
    rpId: party.id,
    origin: party.origin,
    userHandle: Buffer.from(accountId).toString("base64url"),
  });
  const places = { store, challenges: ways.challenges };
  const add = (key: ReturnType<typeof authenticator>, said: Said) =>
    bundled.addPasskey(places, {
      party,
      accountId,
      sessionId,
      name: "phone",
      answer: key.create(asked(bundled.passkeyPurpose.add(party, sessionId)), said),
    });
  for (const said of [{}, { format: "packed" }]) {
    const key = authenticator();
    await add(key, said);
    const answer = key.get(asked(bundled.passkeyPurpose.signIn(party)));
    assert.equal((await bundled.provePasskey(places, { party, answer })).is, "right");
  }
  const certificates = new Map(Object.entries({ alg: -7, sig: "s", x5c: [Buffer.alloc(300)] }));
  for (const said of [
    { format: "packed", statement: certificates },
    ...["fido-u2f", "tpm", "apple", "android-key"].map((format) => ({ format })),
  ])
    await assert.rejects(add(authenticator(), said), { code: "invalid_request" });
  assert.equal(listPasskeys(store, accountId).length, 2);
});

test("a mail is put together and a request is sent by the bundle", async () => {
  const { composeMail }: { composeMail: typeof ComposeMail } = require(join(folder, "mail.js"));
  const mail = await composeMail({
    from: "box@example.org",
    to: "ann@example.org",
    now: 0,
    tenant: "t",
    id: "i",
    alert: "a",
    subject: "Ünder",
    text: "text",
    html: "<p>html</p>",
    isUrgent: true,
  });
  assert.match(`${mail}`, /^Subject: =\?UTF-8\?/m);
  assert.match(`${mail}`, /text\/plain.*text\/html/s);
  const { createEgress }: { createEgress: typeof CreateEgress } = require(
    join(folder, "egress.js"),
  );
  const server = createServer((_, answer) => answer.end("there"));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const egress = createEgress({ clock: systemClock, rules: { role: "box", deny: [] } });
  const { port } = server.address() as AddressInfo;
  const { status, body } = await egress.send({ method: "GET", url: `http://127.0.0.1:${port}/` });
  assert.deepEqual([status, body], [200, "there"]);
  await egress.close();
  server.close();
});
