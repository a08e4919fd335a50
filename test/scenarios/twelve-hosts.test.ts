import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { hostsOf, twelveHosts } from "../support/twelve-hosts.ts";
import { settle } from "../support/until.ts";

test("twelve hosts of two services, as Alertmanager's webhook tells of them: each is seen, one silenced, the rest taken", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const go = await hostsOf(box);
  await twelveHosts({
    call: async (method, path, body) => {
      const answer = await box.api(method, path, body);
      assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    go,
    comes: async (what, look) => {
      await settle(box);
      assert.ok(await look(), what);
    },
    now: () => Math.floor(box.clock.now() / 1000),
  });
});
