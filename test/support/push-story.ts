import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { BoxFlags } from "../../src/app/config.ts";
import { browser } from "../../src/app/prove/browser.ts";
import type { PushPayload } from "../../src/out/services/web-push/payload.ts";
import type { Answer, Person } from "./box.ts";
import { pushService } from "./browsers.ts";
import { boxAndReceiver } from "./contacts.ts";
import { settle } from "./until.ts";

/** A phone of somebody: what it was pushed, opened by its own key, oldest first. */
export interface Phone {
  id: string;
  endpoint: string;
  pushed(): PushPayload["notification"][];
  /** What only this browser can read. */
  open(body: Buffer): string;
  /** The latest. */
  shown(): PushPayload["notification"];
}

/** A box with a public address and its own pair of keys, people whose browsers subscribe, and one push service for all. */
export async function pushStory(t: TestContext, flags: BoxFlags = {}) {
  const { box, receiver } = await boxAndReceiver(t, { publicUrl: "https://box.test", ...flags });
  const token = await box.project("payments");
  const [ann, bob] = [
    box.person("member", "ann@example.org"),
    box.person("member", "bob@example.org"),
  ];
  const { public_key } = (await box.api("GET", "/v1/push/key")).body;
  let key: string = public_key;
  const service = pushService(
    () => receiver.url,
    () => key,
    () => Math.floor(box.clock.now() / 1000),
  );
  receiver.always(service.behaviour);
  /** Subscribes a browser of somebody's; what comes back is asserted. */
  async function subscribe(person: Person, label: string, more: object = {}): Promise<Phone> {
    const phone = browser();
    const endpoint = `${receiver.url}/push/canary-${label}`;
    const body = { ...phone.subscription(endpoint), expirationTime: null, label, ...more };
    const made = await box.api("POST", "/v1/push/subscriptions", body, person.key);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const pushed = () =>
      service.taken
        .filter(({ path }) => path === new URL(endpoint).pathname)
        .map(({ bytes = Buffer.alloc(0) }) => JSON.parse(phone.open(bytes)).notification);
    const shown = () => {
      const last = pushed().at(-1);
      assert.ok(last, `nothing was pushed to ${label}`);
      return last;
    };
    return { id: made.body.id, endpoint, pushed, shown, open: phone.open };
  }
  const post = async (path: string, body?: unknown): Promise<Answer> => {
    const answer = await fetch(`${box.url}${path}`, {
      method: "POST",
      headers: { accept: "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
    return {
      status: answer.status,
      headers: answer.headers,
      body: isJson ? JSON.parse(text) : text,
    };
  };
  return {
    box,
    receiver,
    service,
    token,
    ann,
    bob,
    subscribe,
    /** The box has another pair now. */
    async newKey() {
      key = (await box.api("GET", "/v1/push/key")).body.public_key;
      return key;
    },
    key: () => key,
    rule: async (escalations: object[], more: object = {}) => {
      const write = { name: "errors", match: { min_level: 400 }, identifier_keys: ["n"] };
      const body = { ...write, escalations, ...more };
      const made = await box.api("POST", "/v1/projects/payments/rules", body);
      assert.equal(made.status, 201, JSON.stringify(made.body));
    },
    /** Opens an alert and lets the box push; its id. */
    async fire(n: number): Promise<string> {
      const message = "no payment goes through";
      await box.ingest(token, { message, level: 500, keys: { n: `${n}` } });
      await settle(box);
      return String(box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get());
    },
    subscriptions: async (person: Person) =>
      (await box.api("GET", "/v1/push/subscriptions", undefined, person.key)).body.subscriptions,
    /** The device shows it. */
    see: (receipt: string) => post("/push/seen", { receipt }),
    /** The device's button. */
    press: (notification: PushPayload["notification"]) =>
      post(new URL(notification.data.ack ?? "").pathname),
    timeline: async (id: string) =>
      (await box.api("GET", `/v1/alerts/${id}/timeline`)).body.timeline as {
        kind: string;
        account_id: string | null;
        detail: Record<string, unknown>;
      }[],
    step: ({ accountId }: Person, after_minutes = 0) => ({
      after_minutes,
      accounts: [accountId],
      schedules: [],
      repeat_minutes: 0,
    }),
  };
}
