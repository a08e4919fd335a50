import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { boxAndReceiver } from "../support/contacts.ts";
import fc from "../support/property.ts";
import { pass, settle } from "../support/until.ts";

/** A rule silences another by labels that are no identifiers: what holds while both surely say the same, and no longer. */

interface Alert {
  id: string;
  state: string;
  rule: string;
  identifiers: Record<string, string>;
  silenced_by: string | null;
}
type Kind = "down" | "slow";
type Said = [kind: Kind, check: string, host?: string];

async function story(t: TestContext) {
  const { box, receiver } = await boxAndReceiver(t);
  const token = await box.project("shop");
  const hook = { type: "webhook", name: "hook", url: `${receiver.url}/hook` };
  assert.equal((await box.api("POST", "/v1/projects/shop/integrations", hook)).status, 201);
  const rule = async (name: Kind, more: object = {}) => {
    const conditions = [{ key: "kind", op: "eq", value: name }];
    const made = { name, conditions, identifier_keys: ["check"], ...more };
    assert.equal((await box.api("POST", "/v1/projects/shop/rules", made)).status, 201);
  };
  await rule("down");
  await rule("slow", { silenced_by: [{ rule: "down", equal: ["host"] }] });
  /** In one batch. */
  const send = async (...events: Said[]) => {
    const lines = events.map(([kind, check, host]) => {
      const keys = { kind, check, ...(host !== undefined && { host }) };
      return JSON.stringify({ message: `it is ${kind}`, level: 400, keys });
    });
    const { status } = await fetch(`${box.url}/v1/ingest`, {
      method: "POST",
      body: lines.join("\n"),
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    });
    assert.equal(status, 202);
  };
  const alerts = async () =>
    (await box.api("GET", "/v1/alerts?limit=500&state=open")).body.alerts as Alert[];
  const find = async (kind: Kind, check: string) =>
    (await alerts()).find((one) => one.rule === kind && one.identifiers["check"] === check);
  const held = async (check: string) => {
    await pass(box, 5, 1);
    return (await find("slow", check))?.silenced_by ?? null;
  };
  const told = () =>
    receiver.received.map(({ body }) => {
      const { event, rule: of, identifiers } = JSON.parse(body) as { event: string } & Alert;
      return `${event.slice(6)} ${of} ${identifiers["check"]}`;
    });
  return { box, send, alerts, find, held, told };
}

test("of the same host is held, of another or of none rings; with a second host, of either, it rings within five seconds", async (t) => {
  const { box, send, find, held, told } = await story(t);
  await send(["down", "ping", "db7"]);
  await send(["slow", "a", "db7"], ["slow", "b", "db7"], ["slow", "c", "db8"], ["slow", "d"]);
  await settle(box);
  const by = `alert:${(await find("down", "ping"))?.id}`;
  assert.deepEqual(
    [await held("a"), await held("b"), await held("c"), await held("d")],
    [by, by, null, null],
  );
  await send(["slow", "a", "db9"]);
  assert.deepEqual([await held("a"), await held("b")], [null, by], "its own hosts are two");
  await send(["down", "ping", "db7"], ["slow", "b"]);
  assert.equal(await held("b"), by, "it says nothing new");
  // What comes after the restart finds the look in the table alone.
  await send(["down", "ping", "db8"]);
  await box.restart();
  assert.equal(await held("b"), null);
  assert.ok(told().includes("opened slow b"));
});

test("what opens in the batch in which the other's host changes rings", async (t) => {
  const { box, send, held, told } = await story(t);
  await send(["down", "ping", "db7"]);
  await settle(box);
  await send(["slow", "a", "db7"], ["down", "ping", "db8"], ["slow", "b", "db7"]);
  assert.deepEqual([await held("a"), await held("b")], [null, null]);
  assert.deepEqual(told().slice(1).sort(), ["opened slow a", "opened slow b"]);
});

test("whatever comes, what is held surely is of a host of which one is down", async (t) => {
  const { box, send, alerts } = await story(t);
  const hosts = new Map<string, Set<string>>();
  const sure = (name: string) => {
    const [host, ...others] = hosts.get(name) ?? [];
    return others.length === 0 ? host : undefined;
  };
  const nameOf = (kind: string, check: string | undefined) => `${kind} ${check}`;
  const said = fc.tuple(
    fc.constantFrom<Kind>("down", "slow"),
    fc.constantFrom("1", "2", "3"),
    fc.constantFrom("db7", "db7", "db8", undefined),
  );
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.array(said, { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.nat(5) },
  );
  let [isHeld, isLoud] = [0, 0];
  for (const one of fc.sample(fc.array(step, { minLength: 40, maxLength: 40 }), 1)[0] ?? []) {
    const before = new Set((await alerts()).map(({ id }) => id));
    if (typeof one === "number") {
      const ended = (await alerts())[one];
      if (ended === undefined) continue;
      await box.api("POST", `/v1/alerts/${ended.id}/resolve`, {});
      hosts.delete(nameOf(ended.rule, ended.identifiers["check"]));
    } else {
      await send(...(one as Said[]));
      for (const [kind, check, host] of one) {
        const name = nameOf(kind, check);
        const known = hosts.get(name) ?? new Set();
        hosts.set(name, host === undefined ? known : known.add(host));
      }
    }
    await pass(box, 5, 5);
    const open = await alerts();
    const down = open.filter(({ rule }) => rule === "down");
    const hostOf = ({ rule, identifiers }: Alert) => sure(nameOf(rule, identifiers["check"]));
    for (const alert of open.filter(({ rule }) => rule === "slow")) {
      const host = hostOf(alert);
      const by = down.find(({ id }) => `alert:${id}` === alert.silenced_by);
      const what = `${JSON.stringify(one)} ${JSON.stringify(alert)}`;
      if (alert.silenced_by === null) isLoud += 1;
      else isHeld += 1;
      if (alert.silenced_by !== null)
        assert.ok(host !== undefined && by !== undefined && hostOf(by) === host, what);
      const isDown = host !== undefined && down.some((other) => hostOf(other) === host);
      const isNew = typeof one !== "number" && one.every(([kind]) => kind === "slow");
      if (isNew && isDown && !before.has(alert.id)) assert.notEqual(alert.silenced_by, null, what);
    }
  }
  assert.ok(isHeld > 3 && isLoud > 3, `${isHeld} held, ${isLoud} loud`);
});
