import assert from "node:assert/strict";
import { test } from "node:test";
import { type BoxProcess, boxProcess } from "../support/box-process.ts";
import { toldIn } from "../support/contacts.ts";
import { dieBefore } from "../support/die-before.ts";
import { programFile } from "../support/program.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

/** A box is killed between the press of *Take it* and its answer: a swap is made, or it isn't; nothing is half. */

const SCHEDULES = "/v1/projects/shop/oncall/schedules";
const DAY = 86_400;
const WRITES = /^\s*(insert into "?(overrides|oncall_notes)|update "?asks)/;

/** A member with a key and a contact that its receiver's path proves. */
async function member(box: BoxProcess, receiver: Receiver, name: string) {
  const { api } = box;
  const owner = api.key;
  const email = `${name}@example.org`;
  const { code } = await api.need("POST", "/v1/pair/codes", { role: "member" });
  const paired = await api.need("POST", "/v1/pair", { code, email, password: "correct horse 1" });
  api.key = String(paired["api_key"]);
  const base = "/v1/accounts/me/contacts";
  const write = { kind: "webhook", address: `${receiver.url}/${name}` };
  const { id } = await api.need("POST", base, write);
  const path = `${base}/${String(id)}/verify`;
  await api.need("POST", path, {});
  await api.need("POST", path, { code: toldIn(receiver.received.at(-1)).code });
  const { key } = api;
  api.key = owner;
  return { id: String(paired["box_account_id"]), key };
}

test("a box that is killed before each write of a swap, and after its commit, makes both overrides or none", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const file = await programFile();
  const box = boxProcess([process.execPath, file]);
  t.after(() => box.discard());
  await box.start();
  await box.project("shop");
  const [ann, bob] = [await member(box, receiver, "ann"), await member(box, receiver, "bob")];
  const now = Math.floor(Date.now() / 1000);
  const layer = {
    name: "daily",
    participants: [ann.id, bob.id],
    rotation_start: now - 3600,
    shift_minutes: 1440,
  };
  const body = { name: "primary", timezone: "UTC", hand_over: false, layers: [layer] };
  await box.api.need("POST", SCHEDULES, body);
  const shift = (n: number) => ({ from: now - 3600 + n * DAY, until: now - 3600 + (n + 1) * DAY });
  const words = { schedule: "shop/primary", ...shift(1), of: [ann.id], in_return: shift(2) };
  await box.api.need("POST", "/v1/oncall/asks", words);
  const notes = (name: string) =>
    receiver.received.filter(({ path }) => path === `/${name}`).map(toldIn);
  const asked = () => notes("ann").find(({ title }) => title.includes("asks you"));
  await until(() => asked() !== undefined, "Ann is asked");
  const link = new URL((asked() as unknown as { link: string }).link).pathname;

  const made = async () => {
    const { overrides } = await box.api.need("GET", `${SCHEDULES}/primary/overrides`);
    return (overrides as { account_id: string; starts_at: number }[])
      .map(({ account_id, starts_at }) => [account_id, starts_at])
      .toSorted();
  };
  const both = [
    [ann.id, shift(1).from],
    [bob.id, shift(2).from],
  ].toSorted();
  let killed = 0;
  for (let answered = false; !answered; ) {
    await box.kill();
    await box.start([process.execPath, ...dieBefore(WRITES, killed + 1), file]);
    const before = await made();
    assert.ok(before.length === 0 || before.length === 2, `half of it: ${JSON.stringify(before)}`);
    const answer = await fetch(box.url + link, {
      method: "POST",
      body: new URLSearchParams({ verb: "take" }),
      redirect: "manual",
    }).catch(() => null);
    answered = answer !== null;
    if (answered)
      assert.deepEqual([answer?.status, before], [303, both], "not made by the last kill");
    else killed += 1;
  }
  assert.deepEqual(await made(), both);
  t.diagnostic(`killed at ${killed} steps`);
  // Two overrides, the ask, the note to Bob, and the commit from both sides.
  assert.ok(killed >= 6, `${killed} steps`);
  assert.match(await (await fetch(box.url + link)).text(), /It is yours/);
  const told = () => notes("bob").filter(({ lines }) => lines.join().includes("takes it"));
  await until(() => told().length > 0, "Bob is told");
});
