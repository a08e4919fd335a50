import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServiceError } from "../../src/ground/kit/errors.ts";
import { pair, type ReceiptRedemption } from "../../src/hosted/pairing.ts";
import { type HostedBench, hostedBench, relay } from "../support/hosted.ts";

const BOX = "b0b0b0b0b0b0b0b0";
const URL = "https://box.example";
const RECEIPT = "f".repeat(48);

/** A hosted service whose box answers receipts with `answers`, in order. */
function pairingBench(
  bench: HostedBench,
  ...answers: (ReceiptRedemption | (() => Promise<ReceiptRedemption>))[]
) {
  const asked: [string, string][] = [];
  const redeemReceipt = async (boxUrl: string, receipt: string): Promise<ReceiptRedemption> => {
    asked.push([boxUrl, receipt]);
    const answer = answers.shift() ?? { kind: "refused" };
    return typeof answer === "function" ? answer() : answer;
  };
  const account = async (name: string) =>
    (await bench.registry.accounts.add(`${name}@example.com`)).account.id;
  const tryPair = (tenantId: string, accountId: string, boxAccountId: string) =>
    pair(
      { registry: bench.registry, redeemReceipt },
      { tenantId, accountId, boxAccountId, receipt: RECEIPT },
    );
  return { asked, account, tryPair };
}

const good = (boxAccountId: string): ReceiptRedemption => ({
  kind: "redeemed",
  boxAccountId,
  tenantId: BOX,
});

const refusal =
  (code: string, message = /./) =>
  (error: ServiceError) =>
    error.code === code && message.test(error.message);

test("the first pairing calls no box, makes the account the owner and gives the credential", async (t) => {
  const bench = hostedBench(t);
  const { account, tryPair, asked } = pairingBench(bench);
  const { id } = await bench.registry.tenants.add({ kind: "box", boxUrl: URL });
  const ada = await account("ada");
  const paired = await tryPair(id, ada, "box-ada");
  assert.match(paired.credential?.keyId ?? "", /^rk_[0-9a-f]{16}$/);
  assert.match(paired.credential?.secret ?? "", /^[0-9A-Za-z]{43}$/);
  const createdAt = bench.clock.now() / 1000;
  const pairing = { accountId: ada, boxAccountId: "box-ada", createdAt, revokedAt: null };
  assert.deepEqual(paired.pairing, pairing);
  assert.deepEqual(await bench.registry.pairings.list(id), [pairing]);
  assert.equal(await bench.registry.memberships.role(id, ada), "owner");
  assert.deepEqual(asked, []);
});

test("fifty first pairings at once: one credential, one owner, and it works", async (t) => {
  const bench = hostedBench(t);
  const { account, tryPair } = pairingBench(bench);
  const { id } = await bench.registry.tenants.add({ kind: "box" });
  const accounts = await Promise.all(Array.from({ length: 50 }, (_, n) => account(`p${n}`)));
  const tries = await Promise.allSettled(accounts.map((one) => tryPair(id, one, `box-${one}`)));
  const won = tries.filter((one) => one.status === "fulfilled");
  assert.equal(won.length, 1);
  const members = await bench.registry.memberships.list(id);
  assert.deepEqual(
    members.map((member) => member.role),
    ["owner"],
  );
  assert.equal((await bench.registry.pairings.list(id)).length, 1);
  const credential = won[0]?.value.credential ?? { keyId: "", secret: "" };
  const answer = await relay(bench, { tenantId: id, credential, accounts: [] });
  assert.equal(answer.kind, "relayed");
});

test("after a revoked pairing the next one still needs a receipt", async (t) => {
  const bench = hostedBench(t);
  const { account, tryPair } = pairingBench(bench, { kind: "refused" });
  const { id } = await bench.registry.tenants.add({ kind: "box", boxUrl: URL });
  const [ada, eve] = [await account("ada"), await account("eve")];
  await tryPair(id, ada, "box-ada");
  await bench.registry.pairings.revoke({ tenantId: id, accountId: ada, by: ada });
  await assert.rejects(tryPair(id, eve, "box-eve"), refusal("receipt_not_accepted"));
});

test("a tenant reserved for an email pairs first only with it, in any spelling, and doesn't exist for others", async (t) => {
  const bench = hostedBench(t);
  const { account, tryPair } = pairingBench(bench);
  const ownerEmail = "ADA@Example.com";
  const { id } = await bench.registry.tenants.add({ kind: "box", ownerEmail });
  await assert.rejects(tryPair(id, await account("eve"), "box-eve"), refusal("not_found"));
  const unknown = tryPair("0000000000000000", await account("eve"), "box-eve");
  await assert.rejects(unknown, refusal("not_found"));
  assert.notEqual((await tryPair(id, await account("ada"), "box-ada")).credential, null);
});

test("a hosted tenant can't be paired", async (t) => {
  const bench = hostedBench(t);
  const { account, tryPair } = pairingBench(bench);
  const { id } = await bench.registry.tenants.add({ kind: "hosted" });
  await assert.rejects(tryPair(id, await account("ada"), "box-ada"), refusal("hosted_tenant"));
});

test("a later pairing redeems the receipt at the box, gives no credential and makes a member", async (t) => {
  const bench = hostedBench(t);
  const { account, tryPair, asked } = pairingBench(bench, good("box-bob"));
  const { id } = await bench.registry.tenants.add({ kind: "box", boxUrl: URL });
  await tryPair(id, await account("ada"), "box-ada");
  const bob = await account("bob");
  const paired = await tryPair(id, bob, "box-bob");
  assert.equal(paired.credential, null);
  assert.equal(paired.pairing.boxAccountId, "box-bob");
  assert.deepEqual(asked, [[URL, RECEIPT]]);
  assert.equal(await bench.registry.memberships.role(id, bob), "member");
  assert.equal((await bench.registry.tenants.get(id))?.boxTenantId, BOX);
});

test("each refusal of a receipt has its own message and writes nothing", async (t) => {
  const bench = hostedBench(t);
  const { account, tryPair } = pairingBench(
    bench,
    { kind: "private" },
    { kind: "unreachable" },
    { kind: "refused" },
    good("box-eve"),
  );
  const { id } = await bench.registry.tenants.add({ kind: "box" });
  await tryPair(id, await account("ada"), "box-ada");
  const bob = await account("bob");
  const isRefused = (message: RegExp) =>
    assert.rejects(tryPair(id, bob, "box-bob"), refusal("receipt_not_accepted", message));
  await isRefused(/announced no address.*only the first person/);
  await bench.registry.tenants.set(id, { boxUrl: URL });
  await isRefused(/no public https address.*only the first person/);
  await isRefused(/could not be reached/);
  await isRefused(/did not accept/);
  // A receipt of another person of the same box.
  await isRefused(/did not accept/);
  assert.equal((await bench.registry.pairings.list(id)).length, 1);
  assert.equal((await bench.registry.tenants.get(id))?.boxTenantId, null);
});

test("a receipt of another box than the announced one is refused, also when the box changes meanwhile", async (t) => {
  const bench = hostedBench(t);
  const { tenants } = bench.registry;
  const announce = () =>
    tenants.announce({ ...from, boxUrl: URL, boxTenantId: "cafecafecafecafe", stamp: 1 });
  const { account, tryPair } = pairingBench(
    bench,
    async () => {
      await announce();
      return good("box-bob");
    },
    good("box-bob"),
    { kind: "redeemed", boxAccountId: "box-bob", tenantId: "cafecafecafecafe" },
  );
  const { id } = await tenants.add({ kind: "box" });
  const { credential } = await tryPair(id, await account("ada"), "box-ada");
  const from = { tenantId: id, relayKeyId: credential?.keyId ?? "" };
  await announce();
  await tenants.announce({ ...from, boxUrl: URL, boxTenantId: BOX, stamp: 1 });
  const bob = await account("bob");
  const isRefused = () =>
    assert.rejects(tryPair(id, bob, "box-bob"), refusal("receipt_not_accepted"));
  await isRefused();
  await isRefused();
  assert.equal((await tryPair(id, bob, "box-bob")).pairing.accountId, bob);
});

test("a live pairing of the account or the box account is a conflict, before any receipt is used", async (t) => {
  const bench = hostedBench(t);
  const { account, tryPair, asked } = pairingBench(bench, good("box-ada"));
  const { id } = await bench.registry.tenants.add({ kind: "box", boxUrl: URL });
  const [ada, bob] = [await account("ada"), await account("bob")];
  await tryPair(id, ada, "box-ada");
  await assert.rejects(tryPair(id, ada, "box-new"), refusal("already_paired"));
  await assert.rejects(tryPair(id, bob, "box-ada"), refusal("already_paired"));
  assert.deepEqual(asked, []);
  await bench.registry.pairings.revoke({ tenantId: id, accountId: ada, by: ada });
  assert.equal((await tryPair(id, bob, "box-ada")).pairing.boxAccountId, "box-ada");
});

test("fifty pairings with good receipts for one box account: one is live", async (t) => {
  const bench = hostedBench(t);
  const answers = Array.from({ length: 50 }, () => good("box-bob"));
  const { account, tryPair } = pairingBench(bench, ...answers);
  const { id } = await bench.registry.tenants.add({ kind: "box", boxUrl: URL });
  await tryPair(id, await account("ada"), "box-ada");
  const accounts = await Promise.all(Array.from({ length: 50 }, (_, n) => account(`p${n}`)));
  const tries = await Promise.allSettled(accounts.map((one) => tryPair(id, one, "box-bob")));
  assert.equal(tries.filter((one) => one.status === "fulfilled").length, 1);
  for (const one of tries) {
    if (one.status === "rejected") assert.equal(one.reason.code, "already_paired");
  }
});

test("an owner may end any pairing, a member only their own", async (t) => {
  const bench = hostedBench(t);
  const { account, tryPair } = pairingBench(
    bench,
    good("box-bob"),
    good("box-cat"),
    good("box-bob"),
  );
  const { id } = await bench.registry.tenants.add({ kind: "box", boxUrl: URL });
  const people = {
    ada: await account("ada"),
    bob: await account("bob"),
    cat: await account("cat"),
  };
  const { ada, bob, cat } = people;
  for (const [name, accountId] of Object.entries(people))
    await tryPair(id, accountId, `box-${name}`);
  const revoke = (by: string, accountId: string, tenantId = id) =>
    bench.registry.pairings.revoke({ tenantId, accountId, by });
  const eve = await account("eve");
  assert.deepEqual(await revoke(eve, bob), { kind: "not_found" });
  assert.deepEqual(await revoke(ada, bob, "0000000000000000"), { kind: "not_found" });
  assert.deepEqual(await revoke(cat, bob), { kind: "not_allowed" });
  assert.deepEqual(await revoke(cat, eve), { kind: "not_allowed" });
  assert.deepEqual(await revoke(ada, eve), { kind: "not_found" });
  assert.deepEqual(await revoke(bob, bob), { kind: "revoked", now: true });
  assert.deepEqual(await revoke(bob, bob), { kind: "revoked", now: false });
  assert.deepEqual(await revoke(ada, cat), { kind: "revoked", now: true });
  assert.deepEqual(await revoke(ada, ada), { kind: "revoked", now: true });
  assert.equal(await bench.registry.memberships.role(id, ada), "owner");
  // A person who pairs again keeps the role, and gets a new row next to the revoked one.
  await tryPair(id, bob, "box-bob");
  const rows = await bench.registry.pairings.list(id);
  assert.deepEqual(
    rows.filter((row) => row.accountId === bob).map((row) => row.revokedAt === null),
    [false, true],
  );
});

test("only an owner rotates the relay key", async (t) => {
  const bench = hostedBench(t);
  const { account, tryPair } = pairingBench(bench, good("box-bob"));
  const { registry } = bench;
  const { id } = await registry.tenants.add({ kind: "box", boxUrl: URL });
  const [ada, bob, eve] = [await account("ada"), await account("bob"), await account("eve")];
  const first = await tryPair(id, ada, "box-ada");
  await tryPair(id, bob, "box-bob");
  const rotate = (by: string, tenantId = id) => registry.relayKeys.rotate({ tenantId, by });
  assert.deepEqual(await rotate(eve), { kind: "not_found" });
  assert.deepEqual(await rotate(ada, "0000000000000000"), { kind: "not_found" });
  assert.deepEqual(await rotate(bob), { kind: "not_owner" });
  const rotations = await Promise.all([rotate(ada), rotate(ada), rotate(ada)]);
  const keys = [first.credential?.keyId ?? ""];
  for (const one of rotations) if (one.kind === "rotated") keys.push(one.credential.keyId);
  assert.equal(keys.length, 4);
  const live = await Promise.all(keys.map((key) => registry.relayKeys.find(key)));
  assert.deepEqual(
    live.map((key) => key.tenantId),
    [null, null, null, id],
  );
  const hosted = await registry.tenants.add({ kind: "hosted" });
  await registry.memberships.put({ tenantId: hosted.id, accountId: ada, role: "owner" });
  assert.deepEqual(await rotate(ada, hosted.id), { kind: "hosted" });
});
