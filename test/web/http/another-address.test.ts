import assert from "node:assert/strict";
import { createServer, type Server } from "node:net";
import { after, before, describe, test } from "node:test";
import { channels, contactKindList } from "../../../src/out/services/list.ts";
import { type Answer, type TestBox, testBox } from "../../support/box.ts";

/** What is stored of a kind, where it could go instead, field by field, and what is then to be given again. */
interface Moved {
  stored: Record<string, string>;
  elsewhere: Record<string, string>;
  secrets: string[];
}

const none = { stored: {}, elsewhere: {}, secrets: [] };
/** Nobody listens there. */
const OLD = "http://127.0.0.9:9";
/** Stands for the address of whoever would like to see the secrets. */
const EAR = "the ear";
const HUSH = "hush-hush";

const mail = (own: object = {}): Moved => ({
  stored: {
    host: "127.0.0.9",
    port: "9",
    tls: "starttls",
    user: "box",
    password: HUSH,
    from: "box@example.org",
    ...own,
  },
  elsewhere: { host: "127.0.0.1", port: "10", tls: "none" },
  secrets: ["password"],
});

const channelTable: Record<string, Moved> = {
  email: mail({ to: "me@example.org" }),
  gotify: {
    stored: { server: OLD, token: HUSH },
    elsewhere: { server: EAR },
    secrets: ["token"],
  },
  matrix: {
    stored: { homeserver: OLD, room_id: "!a:b", access_token: HUSH },
    elsewhere: { homeserver: EAR },
    secrets: ["access_token"],
  },
  ntfy: {
    stored: { server: OLD, topic: HUSH, access_token: HUSH },
    elsewhere: { server: EAR },
    secrets: ["topic", "access_token"],
  },
  signal: {
    stored: { server: OLD, recipient: "+15550001111", number: "+15550002222" },
    elsewhere: { server: EAR },
    secrets: ["recipient", "number"],
  },
  // Its secret signs, and is sent nowhere.
  webhook: none,
  // The address is the secret, or is the operator's.
  slack: none,
  discord: none,
  mattermost: none,
  google_chat: none,
  teams: none,
  telegram: none,
  pushover: none,
  apns: none,
};

const gatewayTable: Record<string, Moved> = {
  email: mail(),
  twilio: {
    stored: {
      account_sid: `AC${"0".repeat(32)}`,
      auth_token: HUSH,
      api_key: "SK1",
      url: OLD,
      api_secret: HUSH,
      from: "+15550001111",
    },
    elsewhere: { url: EAR },
    secrets: ["auth_token", "api_key", "api_secret"],
  },
  ntfy: {
    stored: { url: OLD, access_token: HUSH },
    elsewhere: { url: EAR },
    secrets: ["access_token"],
  },
  pushover: {
    stored: { url: OLD, token: "hush".repeat(8).slice(2) },
    elsewhere: { url: EAR },
    secrets: ["token"],
  },
  telegram: {
    // From the public service to another, too.
    stored: { token: HUSH },
    elsewhere: { url: EAR },
    secrets: ["token"],
  },
  slack: {
    stored: { url: OLD, bot_token: `xoxb-${HUSH}`, app_token: `xapp-${HUSH}` },
    elsewhere: { url: EAR },
    secrets: ["bot_token", "app_token"],
  },
  matrix: {
    stored: { url: OLD, access_token: HUSH },
    elsewhere: { url: EAR },
    secrets: ["access_token"],
  },
  web_push: none,
};

let box: TestBox;
let ear: Server;
let heard = 0;
let at = "";
before(async () => {
  box = await testBox();
  await box.project("shop");
  ear = createServer((socket) => {
    heard++;
    socket.on("error", () => {}).destroy();
  });
  await new Promise<void>((listening) => ear.listen(0, "127.0.0.1", listening));
  const address = ear.address();
  at = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
});
after(async () => {
  ear.close();
  await box.stop();
});

const named = ({ body }: Answer): string[] =>
  (body.error?.details ?? []).map(({ field }: { field: string }) => field);

function assertRefused(got: Answer, fields: string[]): void {
  assert.equal(got.status, 422, JSON.stringify(got.body));
  assert.equal(got.body.error.code, "missing_credential");
  assert.deepEqual(named(got), fields);
}

/** The change of one field alone. */
const moveOf = ({ elsewhere }: Moved, field: string): Record<string, string> => ({
  [field]: elsewhere[field] === EAR ? at : (elsewhere[field] ?? ""),
});

/** A host is another one at the ear's port. */
const asStored = ({ stored }: Moved) =>
  stored["port"] === undefined ? stored : { ...stored, port: new URL(at).port };

test("the tables know every kind, and each address of it", () => {
  const kinds = (all: readonly { kind: string }[]) => all.map(({ kind }) => kind).sort();
  assert.deepEqual(Object.keys(channelTable).sort(), kinds(channels.kinds));
  assert.deepEqual(Object.keys(gatewayTable).sort(), kinds(contactKindList.gateways));
  const tables = [
    [channels.kinds, channelTable],
    [contactKindList.gateways, gatewayTable],
  ] as const;
  for (const [all, table] of tables)
    for (const { kind, addresses = [], hosts = [], sent } of all) {
      const { elsewhere, secrets } = table[kind] ?? none;
      assert.deepEqual(
        [...(sent?.where ?? [])].sort(),
        Object.keys(elsewhere).sort(),
        `${kind}: where its secrets go`,
      );
      assert.deepEqual(sent?.secrets ?? [], secrets, `${kind}: what goes there`);
      for (const field of secrets.length === 0 ? [] : [...addresses, ...hosts])
        assert.ok(field in elsewhere, `${kind}: ${field}`);
    }
});

describe("a channel at another address", () => {
  const base = "/v1/projects/shop/integrations";
  const made = async (kind: string) =>
    (await box.api("POST", base, { type: kind, ...asStored(channelTable[kind] ?? none) })).body.id;

  for (const [kind, row] of Object.entries(channelTable))
    for (const field of Object.keys(row.elsewhere))
      test(`${kind}: another ${field} alone gets none of ${row.secrets}`, async () => {
        const id = await made(kind);
        const change = moveOf(row, field);
        const before = heard;
        assertRefused(
          await box.api("PUT", `${base}/${id}`, change),
          row.secrets.map((name) => `/${name}`),
        );
        await box.api("POST", `${base}/${id}/test`);
        assert.equal(heard, before);
        const again = Object.fromEntries(row.secrets.map((name) => [name, row.stored[name]]));
        const whole = await box.api("PUT", `${base}/${id}`, { ...change, ...again });
        assert.equal(whole.status, 200, JSON.stringify(whole.body));
        const same = { ...asStored(row), ...change };
        for (const name of row.secrets) delete same[name];
        const kept = await box.api("PUT", `${base}/${id}`, same);
        assert.equal(kept.status, 200, JSON.stringify(kept.body));
        if (change[field] === at || field === "host") {
          await box.api("POST", `${base}/${id}/test`);
          assert.ok(heard > before, "the ear hears what is meant for it");
        }
      });

  test("a configuration that keeps its secret doesn't move it", async () => {
    await box.api("POST", "/v1/projects", { name: "moved" });
    const secrets = { server: OLD, token: HUSH };
    const moved = "/v1/projects/moved";
    await box.api("POST", `${moved}/integrations`, { type: "gotify", name: "phone", ...secrets });
    const { version, config } = (await box.api("GET", `${moved}/config`)).body;
    const integrations = [{ ...config.integrations[0], server: { value: at } }];
    for (const query of ["?dry_run=true", ""])
      assertRefused(
        await box.api("PUT", `${moved}/config${query}`, {
          version,
          config: { ...config, integrations },
        }),
        ["/config/integrations/0/token"],
      );
  });
});

describe("a gateway at another address", () => {
  for (const [kind, row] of Object.entries(gatewayTable))
    for (const field of Object.keys(row.elsewhere))
      test(`${kind}: another ${field} alone gets none of ${row.secrets}`, async () => {
        const path = `/v1/gateways/${kind}`;
        const stored = await box.api("PUT", path, { ...asStored(row), test: false });
        assert.equal(stored.status, 200, JSON.stringify(stored.body));
        const change = moveOf(row, field);
        const before = heard;
        for (const body of [change, { ...change, test: false }])
          for (const query of ["?dry_run=true", ""])
            assertRefused(
              await box.api("PUT", path + query, body),
              row.secrets.map((name) => `/${name}`),
            );
        assert.equal(heard, before);
        const again = Object.fromEntries(row.secrets.map((name) => [name, row.stored[name]]));
        const whole = await box.api("PUT", path, { ...change, ...again });
        assert.equal(whole.body.error?.code, "gateway_refused");
        if (change[field] === at || field === "host") assert.ok(heard > before);
        await box.api("DELETE", path);
      });
});

describe("an action at another server", () => {
  const base = "/v1/projects/shop/actions";
  const action = { name: "restart", method: "POST", url: `${OLD}/restart` };
  const sealed = { headers: { Authorization: HUSH, "X-Team": "ops" }, body: HUSH };

  test("headers and body stay with the server they were given for", async () => {
    const { id } = (await box.api("POST", base, { ...action, ...sealed })).body;
    const before = heard;
    const put = (change: object) => box.api("PUT", `${base}/${id}`, { ...action, ...change });
    assertRefused(await put({ url: `${at}/restart` }), ["/headers", "/body"]);
    assertRefused(await put({ url: OLD.replace("http:", "https:") }), ["/headers", "/body"]);
    assertRefused(await put({ url: at, headers: {} }), ["/body"]);
    assertRefused(await put({ url: at, body: "" }), ["/headers"]);
    await box.api("POST", `${base}/${id}/test`);
    assert.equal(heard, before);
    assert.equal((await put({ url: `${OLD}/again?now` })).status, 200, "another path");
    assert.equal((await put({ url: at, ...sealed })).status, 200);
    await box.api("POST", `${base}/${id}/test`);
    assert.ok(heard > before);
  });

  test("nor does a configuration that keeps one of the headers", async () => {
    await box.api("POST", "/v1/projects", { name: "acting" });
    const acting = "/v1/projects/acting";
    await box.api("POST", `${acting}/actions`, { ...action, ...sealed });
    const { version, config } = (await box.api("GET", `${acting}/config`)).body;
    const put = (change: object) =>
      box.api("PUT", `${acting}/config`, {
        version,
        config: { ...config, actions: [{ ...config.actions[0], url: at, ...change }] },
      });
    const headers = { "X-Team": { value: "dev" }, Authorization: "kept" };
    assertRefused(await put({}), [
      "/config/actions/0/headers/Authorization",
      "/config/actions/0/headers/X-Team",
      "/config/actions/0/body",
    ]);
    assertRefused(await put({ headers, body: null }), ["/config/actions/0/headers/Authorization"]);
    assertRefused(await put({ headers: {} }), ["/config/actions/0/body"]);
    assert.equal((await put({ headers: {}, body: null })).status, 200);
  });
});

test("a provider's client secret stays with its issuer and its client", async () => {
  const providers = "/v1/sign-in/providers";
  const made = await box.api("POST", providers, {
    name: "ours",
    issuer: "https://id.example.org/realm",
    client_id: "box",
    client_secret: HUSH,
    test: false,
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const before = heard;
  const path = `${providers}/${made.body.id}`;
  for (const change of [{ issuer: at }, { client_id: "other" }])
    for (const test of [true, false])
      assertRefused(await box.api("PUT", path, { ...change, test }), ["/client_secret"]);
  assert.equal(heard, before);
});

test("a relay's secret is always given with its address, and a contact keeps its own", async () => {
  const relay = await box.api("PUT", "/v1/relay", { relay_url: at });
  assert.deepEqual([relay.status, named(relay)], [400, ["/relay_secret"]]);
  const contacts = "/v1/accounts/me/contacts";
  const { id } = (await box.api("POST", contacts, { kind: "webhook", address: OLD, secret: HUSH }))
    .body;
  // A read shows it, so it may be sent back; it is pinned.
  const moved = await box.api("PATCH", `${contacts}/${id}`, { address: at });
  assert.equal(moved.body.address, OLD);
});
