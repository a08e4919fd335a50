import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  alertmanagerGroup,
  grafanaRule,
  oncallAlert,
  opsgenieAlert,
  victoropsAlert,
} from "./samples.ts";
import { connected } from "./sending.ts";

test("Opsgenie: create, acknowledge, note, close; other actions become notes", async (t) => {
  const to = await connected("opsgenie");
  t.after(() => to.box.stop());
  const uuid = to.short.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  const call = (path: string, body: unknown, method = "POST") =>
    to.send(path, body, { method, headers: { authorization: `GenieKey ${uuid}` } });

  const made = await call("/v2/alerts", opsgenieAlert());
  assert.deepEqual([made.status, made.body.result], [202, "Request will be processed"]);
  await call("/v2/alerts/disk%2Fdb-01/priority", { priority: "P5" }, "PUT");
  await call("/v2/alerts/disk%2Fdb-01/notes?identifierType=alias", {
    note: "Rebooted",
    user: "ann",
  });
  await call("/v2/alerts/disk%2Fdb-01/snooze", { endTime: "2030-01-01T00:00:00Z" });
  const [alert] = await to.alerts();
  assert.deepEqual(
    [alert.last_message, alert.level, alert.count, alert.details, alert.dedup_key],
    ["Disk full", 500, 1, "96.4%", "disk/db-01"],
  );
  const { timeline } = (await to.box.api("GET", `/v1/alerts/${alert.id}/timeline`)).body;
  const notes = timeline.flatMap(({ detail }: { detail: { note?: string } }) => detail.note ?? []);
  assert.deepEqual(notes, ["asked to priority: P5", "Rebooted (ann)", "asked to snooze"]);
  const shown = await call("/v2/alerts/disk%2Fdb-01?identifierType=alias", undefined, "GET");
  assert.deepEqual(shown.status, 200);
  const { id, alias, status, acknowledged, priority, message, description } = shown.body.data;
  assert.deepEqual(
    [alias, status, acknowledged, priority, message, description],
    ["disk/db-01", "open", false, "P1", "Disk full", "96.4%"],
  );
  const byId = await call(`/v2/alerts/${id}`, undefined, "GET");
  assert.deepEqual([byId.status, byId.body.data.alias], [200, "disk/db-01"]);
  assert.equal((await call("/v2/alerts/nothing", undefined, "GET")).status, 404);
  await call("/v2/alerts/disk%2Fdb-01/acknowledge?identifierType=alias", "");
  assert.equal((await to.alerts())[0].state, "acknowledged");
  await call("/jsm/ops/integration/v2/alerts/disk%2Fdb-01/close?identifierType=alias", {
    source: "am",
  });
  assert.equal((await to.alerts())[0].state, "resolved");
  const ended = await call("/v2/alerts/disk%2Fdb-01?identifierType=alias", undefined, "GET");
  assert.deepEqual([ended.status, ended.body.data?.status], [200, "closed"]);

  // Without an alias, the request's id names the alert.
  const { requestId } = (await call("/v2/alerts", { message: "disk full" })).body;
  const read = await call(`/v2/alerts/requests/${requestId}`, undefined, "GET");
  const { processedAt, integrationId, ...done } = read.body.data;
  assert.deepEqual(done, {
    success: true,
    isSuccess: true,
    action: "Create",
    status: "Created alert",
    alertId: requestId,
    alias: requestId,
  });
  assert.equal(Date.parse(processedAt), (await to.alerts())[0].first_seen * 1000);
  assert.match(integrationId, /^[0-9a-f-]{36}$/);
  assert.equal((await to.alerts())[0].level, 300);
  assert.equal((await call(`/v2/alerts/${requestId}`, undefined, "DELETE")).status, 202);
  assert.equal((await to.alerts())[0].state, "resolved");

  const empty = await call("/v2/alerts", { alias: "x" });
  assert.deepEqual(
    [empty.status, empty.body.errors],
    [422, { message: "Message can not be empty." }],
  );
  assert.equal(
    (await to.send("/v2/alerts", opsgenieAlert())).body.message,
    "Could not authenticate",
  );
});

test("Opsgenie: a new message, description and priority change the alert, and not the next one", async (t) => {
  const to = await connected("opsgenie");
  t.after(() => to.box.stop());
  const call = (path: string, body: unknown, method = "PUT") =>
    to.send(`/${to.token}/v2/alerts${path}`, body, { method });
  await call("/none/priority?identifierType=alias", { priority: "P1" });
  assert.deepEqual(await to.alerts(), []);
  await call("", { alias: "a", message: "queue is long", priority: "P4" }, "POST");
  const [made] = await to.alerts();
  await to.box.clock.turn(60_000);
  await call("/a/message?identifierType=alias", { message: "queue is full" });
  await call("/a/description?identifierType=alias", { description: "9,000 wait" });
  await call("/a/priority?identifierType=alias", { priority: "P1", user: "ann" });
  await call("/a/priority?identifierType=alias", { priority: "P3" });
  const [alert, ...others] = await to.alerts();
  assert.deepEqual(others, []);
  assert.deepEqual(
    [alert.last_message, alert.details, alert.level, alert.count, alert.last_seen],
    ["queue is full", "9,000 wait", 500, 1, made.last_seen + 60],
  );
  assert.ok(alert.updated_seq > made.updated_seq);
  const { timeline } = (await to.box.api("GET", `/v1/alerts/${alert.id}/timeline`)).body;
  const notes = timeline.flatMap(({ detail }: { detail: { note?: string } }) => detail.note ?? []);
  assert.deepEqual(notes, ["asked to priority: P1 (ann)", "asked to priority: P3"]);
  const empty = await call("/a/message?identifierType=alias", { message: " " });
  assert.equal(empty.status, 422);
  await call("", { alias: "a", message: "queue is full still", priority: "P4" }, "POST");
  const [again] = await to.alerts();
  assert.deepEqual([again.count, again.level, again.details], [2, 500, "9,000 wait"]);
});

test("Opsgenie: an alert with an alias can be closed by the id in the answer, after a restart too", async (t) => {
  const to = await connected("opsgenie");
  t.after(() => to.box.stop());
  const call = (path: string, method: string, body?: unknown) =>
    to.send(`/${to.token}/v2/alerts${path}`, body, { method });
  const idOf = async (alias: string) => {
    const { requestId } = (await call("", "POST", { alias, message: alias })).body;
    const { data } = (await call(`/requests/${requestId}`, "GET")).body;
    assert.match(data.alertId, /^[0-9a-f-]{36}$/);
    if (alias.length < 600) assert.equal(data.alias, alias);
    return data.alertId;
  };
  const [first, second, long] = [await idOf("a"), await idOf("b"), await idOf("c".repeat(600))];
  const states = async () => (await to.alerts()).map(({ state }) => state).reverse();
  await call(`/${first}/close?identifierType=alias`, "POST", {});
  assert.deepEqual(await states(), ["open", "open", "open"], "it is no alias");
  const { requestId } = (await call(`/${first}/close?identifierType=id`, "POST", {})).body;
  const { data } = (await call(`/requests/${requestId}`, "GET")).body;
  assert.deepEqual(data, { success: true, isSuccess: true, status: "Processed" });
  await to.box.restart();
  await call(`/${second.toUpperCase()}/acknowledge`, "POST", {});
  await call(`/${long}`, "DELETE");
  assert.deepEqual(await states(), ["resolved", "acknowledged", "resolved"]);
});

describe("Grafana OnCall's addresses", () => {
  test("OnCall: a formatted webhook fires and ends by its uid, other types by their own formats", async (t) => {
    const to = await connected("oncall");
    t.after(() => to.box.stop());
    const call = (type: string, body: unknown) => to.send(`/${to.token}${type}`, body);
    const fired = await call("/formatted_webhook/", oncallAlert());
    assert.deepEqual([fired.status, fired.body], [200, "Ok."]);
    const [alert] = await to.alerts();
    assert.deepEqual(
      [alert.last_message, alert.level, alert.links[0].href, alert.images[0].src],
      ["Pump 3 stopped", 400, "https://scada.example.com/pumps/3", oncallAlert().image_url],
    );
    await call("", { ...oncallAlert(), state: "OK" });
    assert.equal((await to.alerts())[0].state, "resolved");
    const opened = (await to.alerts()).length;
    await call("/webhook", { state: "ok", message: "all is well" });
    assert.equal((await to.alerts()).length, opened, "an end without a name opens nothing");
    await call("/webhook", { message: "queue is long", severity: "minor" });
    assert.deepEqual(
      [(await to.alerts())[0].last_message, (await to.alerts())[0].level],
      ["queue is long", 300],
    );
    await call("/alertmanager/", alertmanagerGroup());
    assert.equal((await to.alerts())[0].dedup_key, "56303bf2b20108de");
    await call("/grafana/", grafanaRule());
    assert.equal((await to.alerts())[0].dedup_key, "grafana-legacy:0:7");
  });
});

test("Splunk On-Call: critical, acknowledgement, recovery; the routing key is for rules", async (t) => {
  const to = await connected("victorops");
  t.after(() => to.box.stop());
  const call = (message_type: string) =>
    to.send(`/${to.short}/storage`, { ...victoropsAlert(), message_type });
  const fired = await call("CRITICAL");
  assert.deepEqual(
    [fired.status, fired.body],
    [200, { result: "success", entity_id: "disk/db-01" }],
  );
  const [alert] = await to.alerts();
  assert.deepEqual(
    [alert.last_message, alert.level, alert.details, alert.occurred_at],
    ["Disk full", 500, "96.4%\nof 2 TB", 1_767_603_500],
  );
  await call("ACKNOWLEDGEMENT");
  assert.equal((await to.alerts())[0].state, "acknowledged");
  await call("RECOVERY");
  assert.equal((await to.alerts())[0].state, "resolved");
  const bad = await to.send(`/${to.short}/storage`, {});
  assert.deepEqual([bad.status, bad.body.result], [400, "failure"]);
});
