import assert from "node:assert/strict";
import { test } from "node:test";
import { signature, type TestHosted, testHosted } from "../support/hosted-role.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import { seed } from "../support/seed.ts";
import { seeded } from "../support/seeded.ts";
import { watchTurns } from "../support/turns.ts";
import { MOST_GROWTH, MOST_STALL_MS } from "./hour.ts";
import { watchMemory } from "./memory.ts";
import { dearRequests } from "./operations.ts";

const random = seeded(seed);
const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;

/** A box that is paired with the role: its relay key, and what it signs with. */
async function paired(hosted: TestHosted, session: string) {
  const box = await startReceiver();
  const { tenant_id: tid } = await hosted.desk((desk) =>
    desk.addTenant({ kind: "box", boxUrl: box.url }),
  );
  box.once(answer(200, { box_account_id: "owner", tenant_id: "b0b0b0b0b0b0b0b0" }));
  const { body } = await hosted.call("POST", `/v1/tenants/${tid}/pair`, {
    token: session,
    body: { box_account_id: "owner", receipt: "ab".repeat(24) },
  });
  await box.close();
  const { relay_key_id: keyId, relay_secret: secret } = body.relay;
  return { tid, keyId: String(keyId), secret: String(secret) };
}

test("a body made to be dear holds up no route of the hosted role", async (t) => {
  const hosted = await testHosted({ lab: true });
  t.after(() => hosted.stop());
  const { token: session } = await hosted.person("keeper@example.com");
  const { tid, keyId, secret } = await paired(hosted, session);
  const key = await hosted.desk(async (desk) => {
    const { tenant_id: tenant } = await desk.addTenant({ kind: "hosted" });
    return (await desk.addKey({ tenant, email: "o@example.com" })).api_key;
  });
  const post = async (path: string, body: object) =>
    (await hosted.call("POST", path, { token: key, body })).body;
  await post("/v1/projects", { name: "p" });
  const { token } = await post("/v1/projects/p/sources", { name: "s" });
  const hook = await post("/v1/projects/p/sources", { name: "h", kind: "hook" });
  assert.ok(token && hook.token);

  const memory = watchMemory();
  let worst = 0;
  const strike = async (
    { method, path, type, body, what }: Awaited<ReturnType<typeof dearRequests>>[number],
    bearer: string,
  ) => {
    memory.begin();
    const turns = watchTurns();
    const isRelay = path.startsWith("/v1/relay/");
    const place = path.replace("{key_id}", keyId).replace("{tid}", tid);
    const signed = isRelay ? signature(hosted, { secret }, body) : {};
    const said = await fetch(hosted.url + place.replace(/\{[^}]+\}/g, "p"), {
      method,
      body,
      redirect: "manual",
      headers: { authorization: `Bearer ${bearer}`, "content-type": type, ...signed },
      signal: AbortSignal.timeout(30_000),
    });
    await said.arrayBuffer();
    turns.stop();
    const growth = memory.growth();
    worst = Math.max(worst, growth);
    const name = `${what} (seed ${seed}, ${said.status})`;
    assert.ok(![401, 500].includes(said.status), name);
    assert.ok(turns.longest <= MOST_STALL_MS, `${name}: the loop stood ${turns.longest} ms`);
    assert.ok(growth <= MOST_GROWTH, `${name}: ${growth} bytes more`);
  };

  const requests = await dearRequests(hosted.url, oneOf);
  const paths = requests.map(({ path }) => path);
  for (const path of ["/v1/ingest", "/v1/relay/{key_id}", "/v1/account/devices"])
    assert.ok(paths.includes(path), path);
  assert.ok(requests.length > 50, `${requests.length} routes`);
  for (const request of requests) {
    const isAccounts = /^\/v1\/(account|tenants)\//.test(request.path);
    await strike(request, isAccounts ? session : request.path === "/v1/ingest" ? token : key);
  }
  for (const size of [30_000, 1_900_000]) {
    const body = `{"a":[${"{},".repeat(size / 3)}{}]}`;
    const path = `/v1/in/hook/${hook.token}`;
    const what = `a tenant's hook, ${size} bytes`;
    await strike({ method: "POST", type: "application/json", path, body, what }, "");
  }
  t.diagnostic(`${Math.round(worst / 1e6)} MB at the most`);
});
