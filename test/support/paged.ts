import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { BoxFlags } from "../../src/app/config.ts";
import type { Log } from "../../src/ground/kit/log.ts";
import type { Person } from "./box.ts";
import { boxAndReceiver, reachBy, toldIn } from "./contacts.ts";
import { settle } from "./until.ts";

/** A box with a public address, Ann who is paged by her contact, and Bob. */
export async function pagedBox(t: TestContext, flags: BoxFlags = {}, log?: Log) {
  const { box, receiver } = await boxAndReceiver(
    t,
    { publicUrl: "https://box.test", ...flags },
    log,
  );
  const token = await box.project("shop");
  const [ann, bob] = [
    box.person("member", "ann@example.org"),
    box.person("member", "bob@example.org"),
  ];
  const contact = await reachBy(box, ann, receiver, "/ann");
  const ruleOf = ({ accountId }: Person) => ({
    name: "errors",
    match: { min_level: 400 },
    identifier_keys: ["n"],
    escalations: [{ after_minutes: 0, accounts: [accountId], schedules: [], repeat_minutes: 0 }],
  });
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", ruleOf(ann))).status, 201);
  const { store, sealer } = box.tenant;
  return {
    box,
    store,
    sealer,
    receiver,
    ann,
    bob,
    contact,
    /** Ann is paged no more. */
    pageBob: () => box.api("PUT", "/v1/projects/shop/rules/errors", ruleOf(bob)),
    /** Opens an alert and has its page sent; its id. */
    async fire(n: number, message = "disk is full", more: object = {}): Promise<string> {
      await box.ingest(token, { message, level: 500, keys: { n: `${n}` }, ...more });
      await settle(box);
      return String(store.sql("SELECT max(id) FROM alerts").pluck().get());
    },
    handleOf: (alert: string) =>
      String(store.sql("SELECT handle FROM pages WHERE alert_id = ?").pluck().get(Number(alert))),
    outcomes: () =>
      store
        .sql("SELECT outcome FROM pages WHERE event = 'alert.escalated' ORDER BY id")
        .pluck()
        .all(),
    latest: () => toldIn(receiver.received.at(-1)),
    /** The capability in the latest page. */
    linked: () =>
      receiver.received
        .flatMap((request) => /\/ack\/(.+)$/.exec(toldIn(request).acknowledge_url ?? "")?.[1] ?? [])
        .at(-1) ?? "",
  };
}
