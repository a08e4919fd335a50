import assert from "node:assert/strict";
import { test } from "node:test";
import { type Gate, gateCookie, opensGate } from "../../../src/records/reports/cookie.ts";
import { NOW, UUID } from "./sample.ts";

const key = Buffer.alloc(32, 7);
const gate: Gate = { reportId: "00112233aabbccdd", uuid: UUID, passwordVersion: "3" };
const path = `/public/reports/${UUID}`;
const HOURS = 3600;

/** What the browser sends back: the pair without its attributes. */
function pairOf(secure = true): string {
  return gateCookie(gate, { key, now: NOW }, { path, secure }).split(";")[0] ?? "";
}

function opens(changes: Partial<Gate>, cookies = pairOf(), now = NOW + 60): boolean {
  return opensGate(cookies, { ...gate, ...changes }, { key, now, secure: true });
}

test("it is kept from scripts, from other sites and to one path, for twelve hours", () => {
  const over = (secure: boolean) =>
    gateCookie(gate, { key, now: NOW }, { path, secure }).replace(/=\d+\.[\w-]{43};/, "=…;");
  const common = `Path=${path}; Max-Age=43200; HttpOnly; SameSite=Strict`;
  assert.equal(over(true), `__Secure-report=…; ${common}; Secure`);
  assert.equal(over(false), `report=…; ${common}`);
});

test("it opens its own report, among other cookies too", () => {
  assert.ok(opens({}));
  assert.ok(opens({}, `a=b; __Secure-report=1.x; ${pairOf()}; c`));
  assert.ok(opensGate(pairOf(false), gate, { key, now: NOW, secure: false }));
});

test("it is void after a password change, a rotation and for another report", () => {
  assert.ok(!opens({ passwordVersion: "4" }));
  assert.ok(!opens({ uuid: UUID.replace("8", "9") }));
  assert.ok(!opens({ reportId: "00112233aabbccde" }));
});

test("it is void at its expiry", () => {
  assert.ok(opens({}, pairOf(), NOW + 12 * HOURS - 1));
  assert.ok(!opens({}, pairOf(), NOW + 12 * HOURS));
});

test("it can't be made longer, made up or made with another key", () => {
  const [name, value = ""] = pairOf().split("=");
  const [expiry, mac] = value.split(".");
  assert.ok(!opens({}, `${name}=${Number(expiry) + 1}.${mac}`));
  assert.ok(!opens({}, `${name}=${expiry}.${"A".repeat(43)}`));
  assert.ok(!opensGate(pairOf(), gate, { key: Buffer.alloc(32, 8), now: NOW, secure: true }));
  for (const cookies of [undefined, "", name, `${name}=`, `${name}=.`, `${name}=NaN.${mac}`]) {
    assert.ok(!opensGate(cookies, gate, { key, now: NOW, secure: true }), String(cookies));
  }
});

test("where the address is https, one that came without TLS is not taken", () => {
  assert.ok(!opens({}, pairOf(false)));
});

test("no part can be moved into its neighbour", () => {
  assert.ok(!opens({ reportId: `${gate.reportId}","${UUID}`, uuid: "" }));
});
