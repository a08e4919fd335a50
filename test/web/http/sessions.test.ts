import assert from "node:assert/strict";
import test from "node:test";
import { openSession } from "../../../src/people/sessions.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import type { Person } from "../../support/box.ts";

function open(app: TestApp, { accountId }: Person): { id: string; cookie: string } {
  return app.tenant.store.write((tx) =>
    openSession(tx, {
      accountId,
      method: "password",
      keyId: null,
      address: "192.0.2.7",
      agent: "Firefox",
    }),
  );
}

const list = async (app: TestApp, { key }: Person, query = "") => {
  const { status, body } = await app.call("GET", `/v1/sessions${query}`, { key });
  return status === 200 ? body.sessions.map(({ id }: { id: string }) => id) : status;
};

test("one's own sessions for a member, anyone's for a manager, never what a cookie holds", async (t) => {
  const app = testApp(t);
  const [owner, ann, bob] = [app.person("owner"), app.person("member"), app.person("admin")];
  const [annas, bobs] = [open(app, ann), open(app, bob)];
  assert.deepEqual(await list(app, owner), []);
  assert.deepEqual(await list(app, ann), [annas.id]);
  assert.deepEqual(await list(app, ann, `?account=${ann.accountId}`), [annas.id]);
  assert.equal(await list(app, ann, `?account=${bob.accountId}`), 403);
  assert.deepEqual(await list(app, owner, `?account=${bob.accountId}`), [bobs.id]);
  assert.equal(await list(app, owner, "?account=0123456789abcdef"), 404);
  const { body } = await app.call("GET", "/v1/sessions", { key: ann.key });
  const now = app.clock.now() / 1000;
  assert.deepEqual(body.sessions, [
    {
      id: annas.id,
      account_id: ann.accountId,
      method: "password",
      key_id: null,
      provider: null,
      created_at: now,
      last_seen_at: now,
      expires_at: now + 30 * 86_400,
      address: "192.0.2.7",
      agent: "Firefox",
    },
  ]);
});

test("a session is ended by its id, all of one's own at once, and only when it is said", async (t) => {
  const app = testApp(t);
  const [ann, bob] = [app.person("member"), app.person("owner")];
  const [first, second, bobs] = [open(app, ann), open(app, ann), open(app, bob)];
  const end = async (path: string, by = ann) => {
    const { status, body } = await app.call("DELETE", path, { key: by.key });
    return status === 200 ? body : status;
  };
  assert.equal(await end(`/v1/sessions/${bobs.id}`), 403);
  assert.deepEqual(await end(`/v1/sessions/${first.id}`), { deleted: true });
  assert.equal(await end(`/v1/sessions/${first.id}`), 404);
  assert.equal(await end("/v1/sessions"), 400);
  assert.equal(await end("/v1/sessions?others=false"), 400);
  assert.deepEqual(await list(app, ann), [second.id]);
  assert.deepEqual(await end("/v1/sessions?others=true"), { ended: 1 });
  assert.deepEqual([await list(app, ann), await list(app, bob)], [[], [bobs.id]]);
});

test("a cookie is no bearer of the interface", async (t) => {
  const app = testApp(t);
  const { cookie } = open(app, app.person("owner"));
  for (const key of [cookie, `ptk_${app.tenant.id}_${cookie}`])
    assert.equal((await app.call("GET", "/v1/me", { key })).status, 401);
});

test("a key of one's own, with a label, shown once; a hundred are enough", async (t) => {
  const app = testApp(t);
  const ann = app.person("member");
  const make = (body: object) => app.call("POST", "/v1/keys", { key: ann.key, body });
  const made = await make({ label: "backup script" });
  assert.equal(made.status, 201);
  const me = await app.call("GET", "/v1/me", { key: made.body.key });
  assert.deepEqual([me.body.account.id, me.body.key_id], [ann.accountId, made.body.id]);
  const { keys } = (await app.call("GET", "/v1/keys", { key: ann.key })).body;
  const labels = keys.map(({ label, hint }: { label: string; hint: string }) => [label, hint]);
  assert.deepEqual(
    new Map(labels),
    new Map([
      ["", ann.key.slice(-4)],
      ["backup script", made.body.key.slice(-4)],
    ]),
  );
  assert.equal((await make({ label: "x".repeat(129) })).status, 400);
  for (let i = 2; i < 100; i++) assert.equal((await make({})).status, 201);
  const over = await make({});
  assert.deepEqual([over.status, over.body.error.code], [422, "too_many"]);
});
