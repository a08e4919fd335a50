import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { startReceiver } from "../support/receiver.ts";
import {
  discordFake,
  googleChatFake,
  mattermostFake,
  roomServer,
  teamsFake,
} from "../support/rooms.ts";
import { settle } from "../support/until.ts";

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
