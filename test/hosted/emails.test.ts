import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Database from "better-sqlite3";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { openSqliteRegistry } from "../../src/hosted/registry/sqlite/registry.ts";
import { foldEmail } from "../../src/people/email.ts";
import { handClock } from "../support/clock.ts";
import { plainSealer } from "../support/hosted.ts";
import fc from "../support/property.ts";
import { scratch } from "../support/scratch.ts";

const composed = "Ren\u00e9@example.org";
const decomposed = "Rene\u0301@example.org";

function registryIn(t: TestContext) {
  const path = join(scratch(t), "hosted.db");
  const open = () =>
    openSqliteRegistry({
      path,
      clock: handClock(),
      random: systemRandom,
      sealer: () => plainSealer,
    });
  return { path, open };
}

/** Accounts as 1.0 stored them: folded only by case. */
function addAsBefore(path: string, emails: Record<string, string>): void {
  const db = new Database(path);
  const add = db.prepare(
    "INSERT INTO accounts (id, email, email_folded, created_at) VALUES (?, ?, ?, 0)",
  );
  for (const [id, email] of Object.entries(emails)) add.run(id, email, email.toLowerCase());
  db.close();
}

test("emails with an accent encoded as one character or two are one account, in the registry too", async (t) => {
  const registry = registryIn(t).open();
  const { account } = await registry.accounts.add(composed);
  const again = await registry.accounts.add(decomposed.toUpperCase());
  assert.deepEqual([again.created, again.account.id], [false, account.id]);
  assert.equal((await registry.accounts.byEmail(` ${decomposed} `))?.id, account.id);
  const { id: tenantId } = await registry.tenants.add({ kind: "box", ownerEmail: decomposed });
  const pairing = { tenantId, accountId: account.id, boxAccountId: "b" };
  assert.equal((await registry.pairings.first(pairing)).kind, "paired");
  registry.close();
});

test("an account of an older version is found by either encoding of its email, and added once", async (t) => {
  const { path, open } = registryIn(t);
  open().close();
  addAsBefore(path, { a: decomposed, b: "Zo\u00eb@example.org", c: "plain@example.org" });
  const registry = open();
  const found = async (email: string) => (await registry.accounts.byEmail(email))?.id;
  assert.deepEqual([await found(composed), await found(decomposed)], ["a", "a"]);
  assert.deepEqual(
    [await found("Zo\u00eb@example.org"), await found("zoe\u0308@example.org")],
    ["b", "b"],
  );
  assert.equal(await found("Plain@example.org"), "c");
  assert.equal((await registry.accounts.add(composed)).created, false);
  registry.close();
});

test("two older accounts whose emails differ only in encoding stay two, each found by its own", async (t) => {
  const { path, open } = registryIn(t);
  open().close();
  addAsBefore(path, { one: composed, two: decomposed });
  for (let opening = 0; opening < 2; opening++) {
    const registry = open();
    assert.equal((await registry.accounts.byEmail(composed))?.id, "one");
    assert.equal((await registry.accounts.byEmail(decomposed))?.id, "two");
    for (const [owner, other, ownerEmail] of [
      ["one", "two", composed],
      ["two", "one", decomposed],
    ] as const) {
      const { id: tenantId } = await registry.tenants.add({ kind: "box", ownerEmail });
      const first = (accountId: string) =>
        registry.pairings.first({ tenantId, accountId, boxAccountId: `b-${accountId}` });
      assert.equal((await first(other)).kind, "not_found");
      assert.equal((await first(owner)).kind, "paired");
    }
    registry.close();
  }
});

test("every encoding of an email folds to the same; letters that are only compatible stay different", () => {
  const local = fc.string({ unit: "grapheme", minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(local, (text) => {
      const email = `${text}@example.org`;
      assert.equal(foldEmail(email.normalize("NFD")), foldEmail(email.normalize("NFC")));
    }),
  );
  assert.notEqual(foldEmail("o\ufb03ce@example.org"), foldEmail("office@example.org"));
});
