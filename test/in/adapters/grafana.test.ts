import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { grafana } from "../../../src/in/adapters/grafana.ts";
import { sent } from "./clean.ts";
import { grafanaGroup, grafanaRule } from "./samples.ts";
import { type Connected, connected } from "./sending.ts";

let to: Connected;
before(async () => {
  to = await connected("grafana");
});
after(() => to.box.stop());

const send = (body: unknown, method = "POST") => to.send(`/${to.token}`, body, { method });

describe("Grafana's webhook", () => {
  test("an alert of Grafana fires with its links, repeats and resolves", async () => {
    const group = grafanaGroup();
    const fired = await send(group);
    assert.deepEqual([fired.status, fired.body.accepted], [200, 2]);
    await send(group, "PUT");
    const [noData, alert] = await to.alerts();
    assert.deepEqual([alert.last_message, alert.level, alert.count], ["p99 is 4.2 s", 400, 1]);
    assert.deepEqual(
      alert.links.map(({ href, text }: { href: string; text: string }) => [text, href]),
      [
        ["Source", "https://grafana.example.com/?orgId=1"],
        ["Dashboard", "https://grafana.example.com/d/shop?orgId=1"],
      ],
    );
    assert.deepEqual(alert.images, [{ src: "https://grafana.example.com/shot.png" }]);
    assert.deepEqual([noData.last_message, noData.level], ["no data: High", 300]);
    const ended = group.alerts.map((one) => ({ ...one, status: "resolved" }));
    assert.equal((await send({ ...group, alerts: ended })).body.resolved, 2);
  });

  test("Grafana's internal labels are no part of an alert", () => {
    const { events } = grafana.decode(sent(JSON.stringify(grafanaGroup())));
    const keys = Object.keys(events[0]?.keys ?? {});
    assert.ok(keys.includes("value.A") && keys.includes("grafana.folder"), keys.join());
    assert.deepEqual(
      keys.filter((key) => key.includes("__")),
      [],
    );
  });

  test("the alerting before version 9: alerting, no data, ok; a pending rule does nothing", async () => {
    await send(grafanaRule());
    const [alert] = await to.alerts();
    assert.deepEqual(
      [alert.last_message, alert.level, alert.dedup_key],
      ["CPU: boom!", 500, "grafana-legacy:0:7"],
    );
    assert.equal((await send({ ...grafanaRule(), state: "pending" })).body.accepted, 0);
    assert.equal((await send({ ...grafanaRule(), state: "ok" })).body.resolved, 1);
  });

  test("a custom payload is refused, and the message names kind hook", async () => {
    const { status, body } = await send({ text: "checkout is slow", sev: "critical" });
    assert.equal(status, 400);
    assert.match(body.error.message, /kind hook/);
  });
});
