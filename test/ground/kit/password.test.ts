import assert from "node:assert/strict";
import {
  type Cost,
  createPasswords,
  formatPhc,
  parsePhc,
  standardCost,
} from "../../../src/ground/kit/password.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { long, test } from "../../support/long.ts";
import fc from "../../support/property.ts";

const cheap: Cost = { memory: 16, passes: 1, lanes: 1 };

test("a password opens its own hash and no other does", async () => {
  const passwords = createPasswords(systemRandom, { cost: cheap });
  const phc = await passwords.hash("correct horse");
  assert.match(phc, /^\$argon2id\$v=19\$m=16,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.equal(await passwords.verify("correct horse", phc), true);
  assert.equal(await passwords.verify("correct horsf", phc), false);
  assert.notEqual(await passwords.hash("correct horse"), phc);
});

test("the standard cost is the decided one", async () => {
  assert.deepEqual(standardCost, { memory: 19_456, passes: 2, lanes: 1 });
  const phc = await createPasswords(systemRandom).hash("correct horse");
  assert.ok(phc.startsWith("$argon2id$v=19$m=19456,t=2,p=1$"), phc);
});

long("a hash of the reference implementation is understood", async () => {
  // echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1 -e (phc-winner-argon2, test.c)
  const phc =
    "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  const passwords = createPasswords(systemRandom);
  assert.equal(await passwords.verify("password", phc), true);
  assert.equal(await passwords.verify("passwore", phc), false);
});

test("text that looks the same is the same password", async () => {
  const passwords = createPasswords(systemRandom, { cost: cheap });
  assert.equal(
    await passwords.verify("e\u0301te\u0301 chaud", await passwords.hash("\u00e9t\u00e9 chaud")),
    true,
  );
});

test("a hash that can't be read, or asks for too much, opens nothing and costs no more", async () => {
  const passwords = createPasswords(systemRandom, { cost: cheap });
  const salt = Buffer.alloc(16).toString("base64").replace(/=+$/, "");
  const tag = Buffer.alloc(32).toString("base64").replace(/=+$/, "");
  const hostile = [
    "",
    "plain text",
    `$argon2id$v=19$m=4194304,t=2,p=1$${salt}$${tag}`,
    `$argon2id$v=19$m=65537,t=2,p=1$${salt}$${tag}`,
    `$argon2id$v=19$m=64,t=99,p=1$${salt}$${tag}`,
    `$argon2id$v=19$m=64,t=2,p=9$${salt}$${tag}`,
    `$argon2id$v=19$m=7,t=2,p=1$${salt}$${tag}`,
    `$argon2id$v=19$m=64,t=0,p=1$${salt}$${tag}`,
    `$argon2i$v=19$m=64,t=2,p=1$${salt}$${tag}`,
    `$argon2id$v=16$m=64,t=2,p=1$${salt}$${tag}`,
    `$argon2id$v=19$m=64,t=2,p=1$${salt}$${tag}\n`,
    `$argon2id$v=19$m=64,t=2,p=1$${salt}$`,
    `$argon2id$v=19$m=64,t=2,p=1$${salt}$${tag.repeat(9)}`,
  ];
  for (const phc of hostile) {
    assert.equal(parsePhc(phc), null, phc);
    assert.equal(await passwords.verify("anything", phc), false, phc);
  }
  assert.equal(await passwords.verify("anything", null), false);
});

test("what is written is read back", () => {
  const costs = fc
    .tuple(
      fc.integer({ min: 32, max: 65_536 }),
      fc.integer({ min: 1, max: 16 }),
      fc.integer({ min: 1, max: 4 }),
    )
    .map(([memory, passes, lanes]): Cost => ({ memory, passes, lanes }));
  const bytes = (minLength: number) => fc.uint8Array({ minLength, maxLength: 64 });
  fc.assert(
    fc.property(costs, bytes(9), bytes(17), (cost, salt, tag) => {
      const kept = { cost, salt: Buffer.from(salt), tag: Buffer.from(tag) };
      assert.deepEqual(parsePhc(formatPhc(kept)), kept);
    }),
  );
});

test("any text is read without a throw", () => {
  const near = fc.stringMatching(
    /^\$argon2id\$v=19\$m=\d{1,12},t=\d{1,4},p=\d{1,3}\$[\w+/]{8,30}\$[\w+/]{8,50}$/,
  );
  fc.assert(
    fc.property(fc.oneof(fc.string(), near), (text) => {
      const kept = parsePhc(text);
      assert.ok(kept === null || kept.cost.memory <= 65_536);
    }),
  );
});

test("one is worked on and eight wait; the tenth is refused at once, and there is room again after", async () => {
  const passwords = createPasswords(systemRandom, { cost: cheap });
  const all = await Promise.allSettled(Array.from({ length: 12 }, () => passwords.hash("secret")));
  assert.equal(all.filter(({ status }) => status === "fulfilled").length, 9);
  const refused = all.slice(9).map((one) => (one.status === "rejected" ? one.reason : null));
  for (const error of refused) assert.equal(error.code, "overloaded");
  assert.equal(refused[0].retryAfter, 1);
  assert.equal(await passwords.verify("secret", await passwords.hash("secret")), true);
});
