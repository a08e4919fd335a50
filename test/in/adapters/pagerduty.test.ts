import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { testBox } from "../../support/box.ts";
import { type Connected, connected } from "./sending.ts";

let to: Connected;
before(async () => {
  to = await connected("pagerduty");
});
after(() => to.box.stop());

const payload = { summary: "Backup failed", source: "nas-02", severity: "error" };
const event = (event_action: string, more: object = {}) => ({
  routing_key: to.short,
  event_action,
  dedup_key: "backup/nas-02",
  payload,
  ...more,
});

describe("PagerDuty's events", () => {
  test("trigger, trigger, acknowledge, resolve, with the key in the body alone", async () => {
    const detail = { custom_details: { free: "1%", last: { ok: false } }, component: "zfs" };
    const sent = await to.send(
      "/v2/enqueue",
      event("trigger", { payload: { ...payload, ...detail } }),
    );
    assert.deepEqual(
      [sent.status, sent.body],
      [202, { status: "success", message: "Event processed", dedup_key: "backup/nas-02" }],
    );
    await to.send("", event("Trigger"));
    const [alert] = await to.alerts();
    assert.deepEqual(
      [alert.last_message, alert.level, alert.count, alert.dedup_key],
      ["Backup failed", 400, 2, "backup/nas-02"],
    );
    assert.match(alert.details, /"free": "1%"/);
    assert.equal((await to.send("/v2/enqueue", event("acknowledge"))).status, 202);
    assert.equal((await to.alerts())[0].state, "acknowledged");
    assert.equal((await to.send("/v2/enqueue", event("resolve"))).status, 202);
    assert.equal((await to.alerts())[0].state, "resolved");
  });

  test("the end of an unknown alert is accepted and opens nothing; an alert without a name gets one", async () => {
    const before = (await to.alerts()).length;
    const gone = await to.send("/v2/enqueue", event("resolve", { dedup_key: "never" }));
    assert.equal(gone.status, 202);
    assert.equal((await to.alerts()).length, before);
    const { body } = await to.send("/v2/enqueue", event("trigger", { dedup_key: undefined }));
    assert.match(body.dedup_key, /^[0-9a-f-]{36}$/);
    assert.equal((await to.alerts())[0].dedup_key, body.dedup_key);
  });

  test("a missing field is refused by name; an unknown severity isn't, because a page would be lost", async () => {
    const { status, body } = await to.send(
      "/v2/enqueue",
      event("trigger", { payload: { summary: "s" } }),
    );
    assert.deepEqual(
      [status, body],
      [
        400,
        {
          status: "invalid event",
          message: "Event object is invalid",
          errors: [
            "'payload.source' is missing or blank",
            "'payload.severity' is missing or blank",
          ],
        },
      ],
    );
    const odd = event("trigger", {
      payload: { ...payload, severity: "terrible" },
      dedup_key: "odd",
    });
    const taken = await to.send("/v2/enqueue", odd);
    assert.deepEqual([taken.status, taken.body.warnings.length], [202, 1]);
    assert.equal((await to.alerts())[0].level, 400);
    const facts = (await to.box.api("GET", "/v1/projects/p/sources/it/facts")).body;
    assert.equal(facts.refused.invalid_request, 1);
    // The stored body doesn't show the key.
    assert.ok(
      !facts.last_refused.body.includes(to.short) && facts.last_refused.body.includes("***"),
    );
  });

  test("a wrong key gets PagerDuty's answer 400; the key may be in the address instead", async () => {
    const wrong = event("trigger", { routing_key: "0".repeat(32) });
    for (const body of [wrong, { ...wrong, routing_key: 7 }, "{", "[]"]) {
      const answer = await to.send("/v2/enqueue", body);
      assert.deepEqual([answer.status, answer.body.errors], [400, ["Invalid routing key"]]);
    }
    assert.equal((await to.send(`/${to.token}/v2/enqueue`, wrong)).status, 202);
    const bad = await to.send(`/${to.token}/v2/enqueue`, "{");
    assert.deepEqual([bad.status, bad.body.errors], [400, ["JSON parse error"]]);
    const other = await to.send(`/v2/enqueue?token=${"1".repeat(32)}`, event("trigger"));
    assert.equal(other.status, 400, "a key in the body counts only where there is none elsewhere");
    const long = await to.send("/v2/enqueue", event("trigger", { more: "x".repeat(600_000) }));
    assert.equal(long.status, 400);
    assert.match(long.body.errors[0], /512 KB/);
  });

  test("guessing keys is limited, and a sender at the same address still gets through", async () => {
    const slow = await testBox({ apiRate: "1" });
    try {
      await slow.project("p");
      const source = { name: "it", kind: "pagerduty" };
      const made = (await slow.api("POST", "/v1/projects/p/sources", source)).body;
      const send = async (routing_key: string) => {
        const body = JSON.stringify(event("trigger", { routing_key }));
        const path = `${slow.url}/v1/in/pagerduty/v2/enqueue`;
        return (await fetch(path, { method: "POST", body })).status;
      };
      const wrong = new Set<number>();
      for (let i = 0; i < 12; i++) wrong.add(await send(String(i).padStart(32, "0")));
      assert.deepEqual(wrong, new Set([400, 429]));
      assert.equal(await send(made.short_token), 202);
    } finally {
      await slow.stop();
    }
  });

  test("when unauthenticated bodies fill the memory a sender gets a Retry-After", async () => {
    const half = 512 * 1024;
    const head = `POST /v1/in/pagerduty/v2/enqueue HTTP/1.1\r\nhost: x\r\ncontent-length: ${half}\r\n\r\n`;
    const port = Number(new URL(to.box.url).port);
    const path = `${to.box.url}/v1/in/pagerduty/v2/enqueue`;
    const body = JSON.stringify(event("trigger", { routing_key: to.short }));
    // A slow sender is cut off after a while, so a busy machine may need four more.
    for (let tries = 0, status = 202; status === 202; tries++) {
      assert.ok(tries < 10, "there is always room");
      const slow = Array.from({ length: 4 }, () => connect(port, "127.0.0.1"));
      try {
        for (const socket of slow) socket.on("error", () => {}).write(head + "x".repeat(half - 1));
        for (let asked = 0; asked < 100 && status === 202; asked++) {
          const answer = await fetch(path, { method: "POST", body });
          status = answer.status;
          if (status !== 202)
            assert.deepEqual([status, answer.headers.get("retry-after")], [429, "1"]);
        }
      } finally {
        for (const socket of slow) socket.destroy();
      }
    }
  });

  test("change events are kept as lines and open no alert; version 1 works", async () => {
    const before = (await to.alerts()).length;
    const changed = { routing_key: to.short, payload: { summary: "Deployed 1.2" } };
    const change = await to.send("/v2/change/enqueue", changed);
    assert.deepEqual(
      [change.status, change.body],
      [202, { status: "success", message: "Change event processed" }],
    );
    assert.equal((await to.alerts()).length, before);
    const old = { service_key: to.short, event_type: "trigger", incident_key: "srv01/HTTP" };
    const path = "/generic/2010-04-15/create_event.json";
    const client = { client: "Nagios", client_url: "https://nagios.test/srv01" };
    const taken = await to.send(path, { ...old, ...client, description: "FAILURE of HTTP" });
    assert.deepEqual([taken.status, taken.body.incident_key], [200, "srv01/HTTP"]);
    const [opened] = await to.alerts();
    assert.equal(opened.last_message, "FAILURE of HTTP");
    assert.deepEqual(opened.links, [{ href: "https://nagios.test/srv01", text: "Nagios" }]);
    assert.equal((await to.send(path, { ...old, event_type: "resolve" })).status, 200);
    assert.equal((await to.alerts())[0].state, "resolved");
  });
});
