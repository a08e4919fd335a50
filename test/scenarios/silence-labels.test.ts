import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { boxAndReceiver } from "../support/contacts.ts";
import { inBoth, test } from "../support/long.ts";
import fc from "../support/property.ts";
import { pass, settle } from "../support/until.ts";

/** Silences by labels, over the interface: what they hold, and what rings at once because its labels changed. */

interface Preview {
  alerts: string[];
  open: number;
  named: { id: string; title: string }[];
  past: { alerts: number; named: { id: string }[] };
}

async function story(t: TestContext, rule: object = {}) {
  const { box, receiver } = await boxAndReceiver(t);
  const token = await box.project("shop");
  const hook = { type: "webhook", name: "hook", url: `${receiver.url}/hook` };
  assert.equal((await box.api("POST", "/v1/projects/shop/integrations", hook)).status, 201);
  await box.api("POST", "/v1/projects/shop/rules", {
    name: "errors",
    identifier_keys: ["check"],
    ...rule,
  });
  const write = (labels: object[], more: object = {}) => ({
    project: "shop",
    labels,
    ends_at: Math.floor(box.clock.now() / 1000) + 1800,
    reason: "why",
    ...more,
  });
  const fire = async (check: string, keys: Record<string, string>, level = 400) => {
    const event = { message: `${check} fails`, level, keys: { check, ...keys } };
    assert.equal((await box.ingest(token, event)).status, 202);
    await settle(box);
    const { alerts } = (await box.api("GET", "/v1/alerts?limit=500")).body;
    return alerts.find((one: Alert) => one.identifiers.check === check) as Alert;
  };
  const alert = async ({ id }: { id: string }) =>
    (await box.api("GET", `/v1/alerts/${id}`)).body as Alert;
  const told = () =>
    receiver.received.map(({ body }) => {
      const { event, identifiers } = JSON.parse(body) as { event: string } & Alert;
      return `${event.slice(6)} ${identifiers["check"]}`;
    });
  return { box, token, write, fire, alert, told };
}

interface Alert {
  id: string;
  identifiers: Record<string, string>;
  silenced_by: string | null;
}

const label = (key: string, op: string, value: string | string[]) => ({ key, op, value });

test("a silence of a host holds its alerts and no other host's", async (t) => {
  const { box, write, fire, alert, told } = await story(t);
  const before = await fire("old", { host: "db7" });
  await fire("other", { host: "web1" });
  const made = await box.api("POST", "/v1/silences", write([label("host", "eq", "db7")]));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  assert.deepEqual(made.body.labels, [label("host", "eq", "db7")]);
  assert.equal(made.body.all, false, "labels narrow it");
  assert.equal((await alert(before)).silenced_by, made.body.id, "at once");
  assert.equal((await fire("new", { host: "db7" })).silenced_by, made.body.id);
  assert.equal((await fire("web", { host: "web2" })).silenced_by, null);
  assert.equal((await fire("none", {})).silenced_by, null);
  assert.deepEqual(told(), ["opened old", "opened other", "opened web", "opened none"]);
  await box.api("DELETE", `/v1/silences/${made.body.id}`);
  await settle(box);
  assert.ok(told().includes("opened new"));
});

test("an event of another host lets a silenced alert ring within five seconds", async (t) => {
  const { box, write, fire, alert, told } = await story(t);
  await box.api("POST", "/v1/silences", write([label("host", "matches", "db.*")]));
  const held = await fire("disk", { host: "db7" });
  assert.notEqual((await fire("disk", { host: "db8" })).silenced_by, null, "each value passes");
  await pass(box, 60, 10);
  assert.deepEqual(told(), []);
  await fire("disk", { host: "web1" });
  await pass(box, 5, 1);
  assert.equal((await alert(held)).silenced_by, null);
  assert.deepEqual(told(), ["opened disk"]);
});

test("it rings after a restart that came between the event and the look", async (t) => {
  const { box, token, write, fire, alert, told } = await story(t);
  await box.api("POST", "/v1/silences", write([label("host", "neq", "web1")]));
  const held = await fire("disk", { host: "db7" });
  assert.notEqual(held.silenced_by, null);
  await box.ingest(token, {
    message: "disk fails",
    level: 400,
    keys: { check: "disk", host: "web1" },
  });
  // No time passes between the answer and the end: what is due is in the table alone.
  await box.restart();
  await pass(box, 5, 1);
  assert.equal((await alert(held)).silenced_by, null);
  assert.deepEqual(told(), ["opened disk"]);
});

test("a sixth value that no longer shows keeps it ringing", async (t) => {
  const { box, write, fire } = await story(t);
  for (const host of ["web", "a", "b", "c", "d", "e"]) await fire("disk", { host });
  const preview = async (op: string, value: string) =>
    (await box.api("POST", "/v1/silences/preview", write([label("host", op, value)])))
      .body as Preview;
  assert.equal((await preview("matches", "[a-e]")).open, 0, "one of them was web");
  assert.equal((await preview("neq", "x")).open, 0);
  const other = await fire("cpu", { host: "a" });
  const { named } = await preview("matches", "[a-e]");
  assert.deepEqual(named, [{ id: other.id, title: "cpu fails" }]);
});

test("from an alert the narrowest silence is offered: what it would take else, and what its rule folds", async (t) => {
  const { box, write, fire } = await story(t);
  const offer = async ({ id }: { id: string }) =>
    (await box.api("GET", `/v1/alerts/${id}/silence`)).body;
  const disk = await fire("disk", { host: "db7", zone: "eu", pod: "a" });
  const lone = await offer(disk);
  assert.deepEqual(
    [lone.silence.match.rule, lone.silence.match.identifiers, lone.silence.labels],
    ["errors", { check: "disk" }, []],
  );
  await fire("cpu", { host: "db8", zone: "eu", pod: "b" });
  await fire("disk", { host: "db7", zone: "eu", pod: "c" });
  const { silence, also, also_before, folds } = await offer(disk);
  assert.deepEqual(
    silence.labels,
    [label("host", "eq", "db7")],
    "no label that is alike or varies",
  );
  assert.deepEqual([also, also_before, folds], [[], 0, { pod: ["c", "a"] }]);
  assert.equal((await box.api("POST", "/v1/silences", silence)).status, 201);
  assert.notEqual((await box.api("GET", `/v1/alerts/${disk.id}`)).body.silenced_by, null);
  await box.api("POST", "/v1/alerts/bulk", { where: { project: "shop" }, verb: "resolve" });
  const again = await fire("disk", { host: "db7" });
  assert.equal((await offer(again)).also_before, 1, "the one before");
  const critical = await fire("fan", { host: "db9" }, 500);
  assert.equal((await offer(critical)).silence.critical, false, "a person says so");
  assert.equal((await box.api("GET", "/v1/alerts/999/silence")).status, 404);
  const wide = { ...write([]), project: "shop", match: { rule: "errors" } };
  const { alerts } = (await box.api("POST", "/v1/silences/preview", wide)).body as Preview;
  assert.deepEqual(alerts, [again.id]);
});

for (const [as, runs] of inBoth(10, 40))
  as(
    "what a preview names is what the silence then holds, of random alerts and labels",
    async (t) => {
      const { box, write, fire } = await story(t, { max_open: 0 });
      const host = fc.constantFrom("db7", "db8", "web1", "");
      const events = fc.array(
        fc.record({
          check: fc.nat(5).map(String),
          keys: fc.dictionary(fc.constantFrom("host", "pod", "zone"), host, {
            noNullPrototype: true,
          }),
          level: fc.constantFrom(300, 400, 500),
        }),
        { minLength: 1, maxLength: 6 },
      );
      const one = fc.record({
        key: fc.constantFrom("host", "pod", "zone", "check"),
        op: fc.constantFrom("eq", "neq", "in", "not_in", "matches", "not_matches"),
        text: fc.constantFrom("db7", "db.", ".+", "", "1"),
      });
      const labels = fc.array(one, { minLength: 1, maxLength: 3 });
      let taken = 0;
      await fc.assert(
        fc.asyncProperty(events, labels, fc.boolean(), async (sent, wanted, critical) => {
          for (const { check, keys, level } of sent) await fire(check, keys, level);
          const body = write(
            wanted.map(({ key, op, text }) => label(key, op, op.endsWith("in") ? [text] : text)),
            { critical },
          );
          const { alerts, open } = (await box.api("POST", "/v1/silences/preview", body))
            .body as Preview;
          const made = await box.api("POST", "/v1/silences", body);
          await settle(box);
          const held = (await box.api("GET", "/v1/alerts?state=open&limit=500")).body.alerts
            .filter(({ silenced_by }: Alert) => silenced_by === made.body.id)
            .map(({ id }: Alert) => id);
          assert.deepEqual(alerts, held);
          assert.equal(open, held.length);
          assert.equal((await box.api("GET", `/v1/silences/${made.body.id}`)).body.holds, open);
          taken += open;
          await box.api("DELETE", `/v1/silences/${made.body.id}`);
          const where = { project: "shop", state: "open" };
          await box.api("POST", "/v1/alerts/bulk", { where, verb: "resolve" });
          await settle(box);
        }),
        { numRuns: runs },
      );
      assert.ok(taken > runs * 0.3, `${taken} alerts were taken`);
    },
  );
