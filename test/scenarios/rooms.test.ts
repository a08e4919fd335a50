import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import {
  discordFake,
  googleChatFake,
  mattermostFake,
  roomServer,
  teamsFake,
} from "../support/rooms.ts";
import { pass, settle } from "../support/until.ts";

test("one alert is told in rooms of four services, opened and resolved, and no address is read again", async () => {
  const fakes = { discord: discordFake, mattermost: mattermostFake, google_chat: googleChatFake };
  const services = Object.entries({ ...fakes, teams: teamsFake });
  const servers = await Promise.all(
    services.map(async ([kind, fake]) => {
      const [receiver, { behaviour, faults }] = [await startReceiver(), roomServer(fake)];
      receiver.always(behaviour);
      return { kind, fake, receiver, faults };
    }),
  );
  const box = await testBox();
  try {
    const token = await box.project("shop");
    await box.api("POST", "/v1/projects/shop/rules", { name: "errors", match: { min_level: 400 } });
    const path = "/v1/projects/shop/integrations";
    for (const { kind, fake, receiver } of servers) {
      const write = { type: kind, webhook_url: receiver.url + fake.path };
      const { id } = (await box.api("POST", path, write)).body;
      const read = (await box.api("GET", `${path}/${id}`)).body;
      assert.equal(read.url, receiver.url);
      assert.equal(JSON.stringify(read).includes("canary"), false);
      assert.deepEqual((await box.api("POST", `${path}/${id}/test`)).body, { ok: true });
    }
    await box.ingest(token, { message: "payment 4711 failed @everyone", level: 500 });
    await settle(box);
    await box.api("POST", "/v1/alerts/1/resolve");
    await settle(box);
    for (const { receiver, faults } of servers) {
      assert.deepEqual(faults, []);
      const [tested, opened, resolved, ...more] = receiver.received.map(({ body }) => body);
      assert.equal(more.length, 0);
      assert.match(tested ?? "", /Test: shop/);
      assert.match(opened ?? "", /CRITICAL shop: payment 4711 failed/);
      assert.match(resolved ?? "", /Resolved shop: payment 4711 failed/);
    }
  } finally {
    await box.stop();
    await Promise.all(servers.map(({ receiver }) => receiver.close()));
  }
});

test("a room is told once of an opening and of the step that runs with it; whatever else listens is told of both", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  receiver.always(answer(503));
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  const ann = box.person("member", "ann@example.org");
  const add = async (name: string, more: object) => {
    const write = { type: "slack", name, webhook_url: `${receiver.url}/${name}`, ...more };
    const made = await box.api("POST", "/v1/projects/shop/integrations", write);
    assert.equal(made.status, 201, JSON.stringify(made.body));
  };
  await add("room", {});
  await add("steps", { events: ["alert.escalated"] });
  const hook = { type: "webhook", url: `${receiver.url}/hook` };
  await box.api("POST", "/v1/projects/shop/integrations", hook);
  const steps = [ann, box.owner].map(({ accountId }, i) => ({
    accounts: [accountId],
    after_minutes: i * 10,
  }));
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors", escalations: steps });
  await box.ingest(token, { message: "payment failed", level: 500 });
  await settle(box);
  // Nobody took it so far, and the box is killed: what is owed is owed once, and by its row.
  await box.restart();
  receiver.always(answer(200, "ok"));
  const seen = receiver.received.length;
  const told = () =>
    receiver.received
      .slice(seen)
      .map(({ path, body }) => `${path} ${JSON.parse(body).event ?? body}`)
      .toSorted();
  await pass(box, 120, 30);
  const [ofHook, andThen, room = "", step = "", ...more] = told();
  assert.deepEqual(more, []);
  assert.deepEqual([ofHook, andThen], ["/hook alert.escalated", "/hook alert.opened"]);
  assert.match(room, /^\/room .*CRITICAL shop: payment failed.*Next: ann[^,]*, now/);
  assert.match(step, /^\/steps .*CRITICAL shop: payment failed.*Pages ann/);
  await pass(box, 600, 300);
  const rooms = receiver.received.slice(seen).filter(({ path }) => path === "/room");
  assert.equal(rooms.length, 2);
  assert.match(rooms[1]?.body ?? "", /Escalated \(rung 2\)/);
});
