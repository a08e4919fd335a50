import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { testBox } from "../../support/box.ts";
import { alertmanagerGroup, grafanaRule } from "./samples.ts";
import { connected } from "./sending.ts";

const form = (fields: Record<string, string>) => ({
  method: "POST",
  body: new URLSearchParams(fields),
});

describe("GoAlert's integration keys", () => {
  test("a generic alert fires and ends, by query, form and JSON", async (t) => {
    const to = await connected("goalert");
    t.after(() => to.box.stop());
    const json = (body: object, headers: Record<string, string> = {}) =>
      to.send(`/generic?token=${to.short}`, body, {
        headers: { "content-type": "application/json", ...headers },
      });
    const query = new URLSearchParams({ token: to.short, summary: "Disk full", details: "96 %" });
    query.append("meta", "host=db-01");
    const fired = await to.send(`/generic/incoming?${query}`, "");
    assert.deepEqual([fired.status, fired.body], [204, ""]);
    const [alert] = await to.alerts();
    assert.deepEqual(
      [alert.last_message, alert.level, alert.details, alert.dedup_key],
      ["Disk full", 400, "96 %", "Disk full\n96 %"],
    );
    await json({ summary: "Disk full", details: "96 %", action: "close" });
    assert.equal((await to.alerts())[0].state, "resolved", "named by what it says");

    const made = await json({ summary: "CPU", dedup: "cpu-1" }, { accept: "application/json" });
    assert.deepEqual([made.status, made.body.status], [200, "triggered"]);
    assert.equal((await to.alerts())[0].dedup_key, "cpu-1");
    const { status } = await fetch(
      `${to.box.url}/v1/in/goalert/generic`,
      form({ token: to.short, summary: "CPU", dedup: "cpu-1", action: "close" }),
    );
    assert.equal(status, 204, "the key may be a field of the form");
    assert.equal((await to.alerts())[0].state, "resolved");

    assert.equal((await json({ details: "nothing else" })).status, 400);
    assert.equal((await to.send(`/mailgun?token=${to.short}`, {})).status, 404);
    assert.equal((await to.send("/generic?summary=x", "")).status, 401);
  });

  test("Grafana, Alertmanager and Site24x7 are read by their own formats", async (t) => {
    const to = await connected("goalert");
    t.after(() => to.box.stop());
    const call = (type: string, body: unknown) => to.send(`/${type}?token=${to.token}`, body);
    assert.equal((await call("prometheusalertmanager", alertmanagerGroup())).status, 200);
    assert.equal((await to.alerts())[0].dedup_key, "56303bf2b20108de");
    await call("grafana", grafanaRule());
    assert.equal((await to.alerts())[0].dedup_key, "grafana-legacy:0:7");
    const monitor = {
      MONITORNAME: "Shop",
      STATUS: "DOWN",
      MONITOR_DASHBOARD_LINK: "https://s.example/1",
    };
    assert.equal((await call("site24x7", monitor)).status, 200);
    const [alert] = await to.alerts();
    assert.deepEqual(
      [alert.last_message, alert.level, alert.links[0].href],
      ["Shop is down", 500, "https://s.example/1"],
    );
    await call("site24x7", { ...monitor, STATUS: "UP" });
    assert.equal((await to.alerts())[0].state, "resolved");
    assert.equal((await call("site24x7", { ...monitor, STATUS: "ODD" })).status, 400);
  });

  test("GoAlert's fixed addresses are served at the listener for those, a heartbeat's too", async (t) => {
    const box = await testBox({ adaptersListen: "127.0.0.1:0" });
    t.after(() => box.stop());
    await box.project("p");
    await box.api("POST", "/v1/projects/p/rules", { name: "any" });
    const key = (await box.api("POST", "/v1/projects/p/sources", { name: "g", kind: "goalert" }))
      .body.short_token;
    const uuid = "0b948100-f578-4194-98d1-e4326fcdc3fc";
    const made = { name: "nightly", period_seconds: 3600, uuid };
    await box.api("POST", "/v1/projects/p/heartbeats", made);

    const post = async (base: string, path: string, init: RequestInit = { method: "POST" }) =>
      (await fetch(base + path, init)).status;
    const path = `/api/v2/generic/incoming?token=${key}&summary=Disk`;
    assert.equal(await post(box.adaptersUrl, path), 204);
    assert.equal(await post(box.url, path), 404);
    assert.equal((await box.api("GET", "/v1/alerts")).body.alerts[0].last_message, "Disk");

    const state = async () =>
      (await box.api("GET", "/v1/projects/p/heartbeats")).body.heartbeats[0].state;
    assert.equal(await state(), "new");
    assert.equal(await post(box.url, `/api/v2/heartbeat/${uuid}`), 404);
    assert.equal(await post(box.adaptersUrl, `/api/v2/heartbeat/${uuid}`), 200);
    assert.equal(await state(), "up");
    const strange = `/api/v2/heartbeat/${uuid.replace("0", "1")}`;
    assert.equal(await post(box.adaptersUrl, strange), 404);
    assert.equal(await post(box.adaptersUrl, "/api/v2/status", {}), 401, "Alertmanager's reads");
  });
});
