import assert from "node:assert/strict";
import { test } from "node:test";
import { clockOfPerson } from "../../src/people/reader-clock.ts";
import { boxAndReceiver, reachBy, toldIn } from "../support/contacts.ts";
import { settle } from "../support/until.ts";

test("people are told times by their own clock without its name, all others and rooms by the tenant's with it", async (t) => {
  const { receiver, box } = await boxAndReceiver(t);
  const token = await box.project("shop");
  const [ann, bob] = ["ann", "bob"].map((name) => box.person("member", `${name}@example.org`));
  assert.ok(ann && bob);
  for (const [person, path] of [
    [ann, "/ann"],
    [bob, "/bob"],
  ] as const)
    await reachBy(box, person, receiver, path);
  const own = { timezone: "Asia/Tokyo" };
  const set = await box.api("PATCH", "/v1/me", own, ann.key);
  assert.equal(set.status, 200, JSON.stringify(set.body));
  const settings = { numbers_timezone: "America/New_York" };
  assert.equal((await box.api("PATCH", "/v1/settings", settings)).status, 200);
  const room = { type: "slack", webhook_url: `${receiver.url}/room` };
  assert.equal((await box.api("POST", "/v1/projects/shop/integrations", room)).status, 201);
  const accounts = [ann.accountId, bob.accountId];
  const escalations = [{ accounts }, { accounts, after_minutes: 600 }];
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors", escalations });
  const before = receiver.received.length;
  await box.ingest(token, { message: "payment failed", level: 400 });
  await settle(box);
  const told = new Map(receiver.received.slice(before).map((one) => [one.path, one]));
  const at = Math.floor(box.clock.now() / 1000);
  const clock = (seconds: number, timeZone: string) =>
    new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" }).format(
      seconds * 1000,
    );
  const textFor = (path: string) => {
    const message = toldIn(told.get(path));
    return [message.title, ...message.lines].join("\n");
  };
  const lead = (zone: string, label: string) =>
    new RegExp(`^You're first, .* (\\w+ )?${clock(at + 36_000, zone)}${label}$`, "m");
  const facts = (zone: string, label: string) =>
    new RegExp(` ${clock(at, zone)}${label} · alert 1`);
  assert.match(textFor("/ann"), lead("Asia/Tokyo", ""));
  assert.match(textFor("/ann"), facts("Asia/Tokyo", ""));
  assert.match(textFor("/bob"), lead("America/New_York", " America/New_York"));
  assert.match(textFor("/bob"), facts("America/New_York", " America/New_York"));
  assert.match(told.get("/room")?.body ?? "", facts("America/New_York", " America/New_York"));

  // A zone that the system no longer knows stops no message.
  const { store } = box.tenant;
  store.write((tx) =>
    tx.sql("UPDATE accounts SET timezone = 'Mars/Base' WHERE id = ?").run(ann.accountId),
  );
  const york = { zone: "America/New_York", label: " America/New_York" };
  assert.deepEqual(clockOfPerson(store, ann.accountId), york);
  assert.deepEqual(clockOfPerson(store, ann.accountId, "Mars/Base"), {
    zone: "UTC",
    label: " UTC",
  });
});
