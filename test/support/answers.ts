import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { BoxFlags } from "../../src/app/config.ts";
import type { BoxDeps } from "../../src/app/parts.ts";
import { type Person, type TestBox, testBox } from "./box.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import { pass, settle, until } from "./until.ts";

/** A box whose people are paged by a service that it asks for their answers. */
export interface AnswerStory {
  box: TestBox;
  receiver: Receiver;
  ann: Person;
  bob: Person;
  /** Stores a gateway at the receiver. */
  gateway(kind: string, settings: object): Promise<void>;
  /** Gives a person a contact that is verified. */
  contact(person: Person, kind: string, to: string | object): Promise<void>;
  /** Opens an alert that pages the person at once; its id. */
  page(person: Person): Promise<string>;
  /** `open`, or `acknowledged by ann@example.org via telegram`, and how often that was done. */
  stands(alert: string): Promise<string>;
  gatewayError(kind: string): Promise<string | null>;
}

/** `flags`: what the box is started with, where the receiver is. */
export async function answerStory(
  t: TestContext,
  flags: (url: string) => BoxFlags = () => ({}),
  deps: Partial<BoxDeps> = {},
): Promise<AnswerStory> {
  const receiver = await startReceiver();
  const box = await testBox(flags(receiver.url), undefined, undefined, deps);
  t.after(async () => {
    await box.stop();
    await receiver.close();
  });
  const token = await box.project("shop");
  const ann = box.person("member", "ann@example.org");
  const bob = box.person("member", "bob@example.org");
  const names = new Map([
    [ann.accountId, "ann"],
    [bob.accountId, "bob"],
  ]);
  for (const person of [ann, bob]) {
    const rule = {
      name: names.get(person.accountId),
      match: { template_contains: names.get(person.accountId) },
      identifier_keys: ["n"],
      escalations: [
        { after_minutes: 0, accounts: [person.accountId], schedules: [], repeat_minutes: 0 },
      ],
    };
    const made = await box.api("POST", "/v1/projects/shop/rules", rule);
    assert.equal(made.status, 201, JSON.stringify(made.body));
  }
  let n = 0;
  return {
    box,
    receiver,
    ann,
    bob,
    async gateway(kind, settings) {
      const put = await box.api("PUT", `/v1/gateways/${kind}`, { url: receiver.url, ...settings });
      assert.equal(put.status, 200, JSON.stringify(put.body));
    },
    async contact(person, kind, to) {
      const path = "/v1/accounts/me/contacts";
      const made = await box.api(
        "POST",
        path,
        { kind, ...(typeof to === "string" ? { address: to } : to) },
        person.key,
      );
      assert.equal(made.status, 201, JSON.stringify(made.body));
      // How a code comes back is another story's.
      box.tenant.store.write((tx) => {
        tx.sql("UPDATE contacts SET state = 'verified', verified_at = ? WHERE id = ?").run(
          tx.at,
          made.body.id,
        );
        tx.note({ topic: "people" });
      });
    },
    async page(person) {
      const message = `${names.get(person.accountId)} is needed`;
      await box.ingest(token, { message, level: 500, keys: { n: `${++n}` } });
      await settle(box);
      return String(box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get());
    },
    async stands(alert) {
      const { state } = (await box.api("GET", `/v1/alerts/${alert}`)).body;
      const { timeline } = (await box.api("GET", `/v1/alerts/${alert}/timeline`)).body;
      const done = timeline.filter(({ kind }: { kind: string }) => kind === state);
      if (state === "open") return "open";
      const [{ account_id: by, detail }] = done;
      const times = done.length === 1 ? "" : ` ${done.length} times`;
      return `${state} by ${names.get(by)} via ${detail.via}${times}`;
    },
    gatewayError: async (kind) => (await box.api("GET", `/v1/gateways/${kind}`)).body.last_error,
  };
}

/** Turns the clock on, a second at a time, waiting for each look that a listener takes and for what it sets going. */
export async function hear(box: TestBox, seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    await pass(box, 1);
    await until(() => box.tenant.scheduler.running === 0, "looks end");
    await settle(box);
  }
}
