import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { boxAndReceiver, reachBy, toldIn } from "../support/contacts.ts";
import { pass, settle } from "../support/until.ts";

/** A rule is renamed or removed by configuration in the middle of an incident. */

async function story(t: TestContext) {
  const { box, receiver } = await boxAndReceiver(t);
  const token = await box.project("shop");
  const ann = box.person("member", "ann@example.org");
  await reachBy(box, ann, receiver, "/ann");
  const now = () => Math.floor(box.clock.now() / 1000);
  await box.api("POST", "/v1/projects/shop/rules", {
    name: "errors",
    identifier_keys: ["n"],
    escalations: [{ accounts: [ann.accountId], after_minutes: 10 }],
  });
  await box.api("POST", "/v1/silences", {
    project: "shop",
    match: { rule: "errors", identifiers: { n: "held" } },
    ends_at: now() + 1800,
    reason: "why",
  });
  const fire = async (n: string) => {
    await box.ingest(token, { message: "it is down", level: 400, keys: { n } });
    await settle(box);
    return String(box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get());
  };
  const put = async (change: (rules: { name: string }[]) => object[], query = "") => {
    const { version, config } = (await box.api("GET", "/v1/projects/shop/config")).body;
    const to = `/v1/projects/shop/config${query}`;
    return box.api("PUT", to, { version, config: { ...config, rules: change(config.rules) } });
  };
  const pages = () =>
    receiver.received.filter((one) => one.path === "/ann" && toldIn(one).purpose === "page").length;
  const alert = async (id: string) => (await box.api("GET", `/v1/alerts/${id}`)).body;
  const goesOn = (id: string) =>
    box.tenant.store.sql("SELECT step_at IS NOT NULL FROM alerts WHERE id = ?").pluck().get(id) ===
    1;
  return { box, ann, fire, put, pages, alert, goesOn };
}

test("a rule that has another name keeps its alerts, their ladders and what holds them", async (t) => {
  const { box, fire, put, pages, alert } = await story(t);
  const [open, held] = [await fire("1"), await fire("held")];
  const answer = await put((rules) => rules.map((one) => ({ ...one, name: "failures" })));
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.deepEqual(answer.body.changes, [
    { kind: "rule", name: "failures", change: "update", was: "errors" },
  ]);
  assert.deepEqual(answer.body.ladders_end, []);
  assert.equal(await fire("1"), held, "what fires again is the same alert");
  assert.deepEqual([(await alert(open)).rule, (await alert(open)).count], ["failures", 2]);
  assert.notEqual((await alert(held)).silenced_by, null);
  await pass(box, 700, 60);
  assert.equal(pages(), 1);
  await pass(box, 1800, 60);
  assert.equal(pages(), 2, "what was held is told, and its ladder begins");
});

test("a rule that is removed says whose ladders end, before and after", async (t) => {
  const { fire, put, goesOn } = await story(t);
  const [open, held] = [await fire("1"), await fire("held")];
  const ends = [{ rule: "errors", alerts: [open, held], count: 2, people: ["ann@example.org"] }];
  const tried = await put(() => [], "?dry_run=true");
  assert.deepEqual(tried.body.ladders_end, ends);
  assert.ok(goesOn(open), "it was only tried");
  const done = await put(() => []);
  assert.deepEqual(done.body.ladders_end, ends);
});

test("a rule that is deleted by itself says whose ladders end, before and after", async (t) => {
  const { fire, goesOn, box } = await story(t);
  const at = "/v1/projects/shop/rules/errors";
  const before = (await box.api("GET", at)).body;
  assert.equal("ladders_end" in before, false, "none would end");
  const [open, held] = [await fire("1"), await fire("held")];
  const ends = [{ rule: "errors", alerts: [open, held], count: 2, people: ["ann@example.org"] }];
  const read = (await box.api("GET", at)).body;
  assert.deepEqual(read.ladders_end, ends);
  assert.equal((await box.api("PUT", at, read)).status, 200, "it is taken as it was read");
  assert.ok(goesOn(open));
  const gone = await box.api("DELETE", at);
  assert.deepEqual(gone.body, { deleted: true, ladders_end: ends });
  assert.ok(!goesOn(open));
});

test("what a silence held of a removed rule is told at its end, to whoever is paged for nobody", async (t) => {
  const { fire, put, alert, box } = await story(t);
  const owner = box.owner.accountId;
  const held = await fire("held");
  await put(() => []);
  await pass(box, 1900, 60);
  const kinds = (await box.api("GET", `/v1/alerts/${held}/timeline`)).body.timeline;
  assert.deepEqual(
    kinds
      .filter(({ kind }: { kind: string }) => kind === "fallback")
      .map(({ detail }: { detail: { why: string; accounts: string[] } }) => [
        detail.why,
        detail.accounts,
      ]),
    [["rule_deleted", [owner]]],
  );
  assert.equal((await alert(held)).silenced_by, null);
});
