import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sentryCheckIn } from "../../../src/in/adapters/sentry/check-in.ts";
import { testBox } from "../../support/box.ts";
import { nothingWatched } from "./clean.ts";
import { sentryEnvelope } from "./hook-samples.ts";
import { type Connected, connected } from "./sending.ts";

const ADDRESS = "/v1/projects/p/heartbeats";

/** It accepts reports from this test's source. */
const ofIt = { watch: { source: "it" } };

async function heartbeats(to: Connected) {
  const { body } = await to.box.api("GET", ADDRESS);
  return body.heartbeats;
}

describe("what jobs say through other tools' addresses", () => {
  test("Sentry: a check-in goes to the heartbeat with its slug, and ends the run that it began", async (t) => {
    const to = await connected("sentry");
    t.after(() => to.box.stop());
    const report = (fields: object) => {
      const body = sentryEnvelope([["check_in", { monitor_slug: "nightly", ...fields }]]);
      return to.send(`/api/1/envelope/?sentry_key=${to.short}`, body.toString());
    };
    await to.box.api("POST", ADDRESS, { name: "nightly", period_seconds: 3600, ...ofIt });
    const states: string[] = [];
    const check_in_id = "0b948100f578419498d1e4326fcdc3fc";
    for (const status of ["in_progress", "error", "ok"]) {
      assert.equal((await report({ status, check_in_id })).status, 200);
      states.push((await heartbeats(to))[0].state);
    }
    assert.deepEqual(states, ["started", "down", "up"]);
    const alerts = await to.alerts();
    assert.equal(alerts.length, 1, "a failure is the heartbeat's alert, and no other");
    assert.equal(alerts[0].state, "resolved");
    const [{ id }] = await heartbeats(to);
    const { runs } = (await to.box.api("GET", `${ADDRESS}/${id}/runs`)).body;
    assert.ok(runs.some(({ rid }: { rid: string | null }) => rid?.startsWith("0b948100-f578")));
  });

  test("Sentry: the first check-in creates the heartbeat if the SDK sends a schedule", async (t) => {
    const to = await connected("sentry");
    t.after(() => to.box.stop());
    const report = (slug: string, monitor_config: object, status = "ok") =>
      to.send(
        `/api/1/envelope/?sentry_key=${to.short}`,
        sentryEnvelope([["check_in", { monitor_slug: slug, status, monitor_config }]]).toString(),
      );
    const schedule = { type: "crontab", value: "15 3 * * *" };
    await report("nightly", { schedule, timezone: "Europe/Vienna", checkin_margin: 5 });
    const hourly = { type: "interval", value: 2, unit: "hour" };
    await report("sync", { schedule: hourly, max_runtime: 10 }, "in_progress");
    await report("odd", { schedule: { type: "crontab", value: "at noon" } });
    const made = await heartbeats(to);
    const shown = made.map((beat: Record<string, unknown>) =>
      [
        "slug",
        "cron",
        "timezone",
        "grace_seconds",
        "period_seconds",
        "max_run_seconds",
        "state",
      ].map((name) => beat[name] ?? null),
    );
    assert.deepEqual(shown, [
      ["nightly", "15 3 * * *", "Europe/Vienna", 300, null, null, "up"],
      ["sync", null, "UTC", 300, 7200, 600, "started"],
    ]);
    await report("odd", { schedule: { type: "crontab", value: "at noon" } }, "error");
    assert.equal((await to.alerts())[0].last_message, "Job odd failed", "told as it was before");
  });

  test("Sentry: without a rule for heartbeats, a failed or missed check-in pages by the source's rule", async (t) => {
    const box = await testBox();
    t.after(() => box.stop());
    await box.api("POST", "/v1/projects", { name: "p" });
    const made = await box.api("POST", "/v1/projects/p/connect", { kind: "sentry", name: "web" });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const key = made.body.short_token;
    const schedule = { type: "interval", value: 1, unit: "hour" };
    const report = async (status: string) => {
      const body = sentryEnvelope([
        ["check_in", { monitor_slug: "nightly", status, monitor_config: { schedule } }],
      ]);
      const path = `${box.url}/v1/in/sentry/api/1/envelope/?sentry_key=${key}`;
      assert.equal((await fetch(path, { method: "POST", body })).status, 200);
    };
    const alerts = async () => (await box.api("GET", "/v1/alerts")).body.alerts;
    await report("error");
    const [failed] = await alerts();
    assert.deepEqual(
      [failed.rule, failed.state, failed.page_accounts],
      ["web", "open", [box.owner.accountId]],
    );
    const [beat] = (await box.api("GET", ADDRESS)).body.heartbeats;
    assert.deepEqual([beat.rule, beat.watch], ["web", { source: "web" }]);
    await report("ok");
    assert.equal((await alerts())[0].state, "resolved");
    await box.clock.turn(3 * 3600_000);
    const [missing] = await alerts();
    const none = { "sentry.group": "", environment: "" };
    assert.deepEqual([missing.state, missing.identifiers, missing.rule], ["open", none, "web"]);
    // From now on a rule for heartbeats gets them; ends go to every rule.
    await box.api("POST", "/v1/projects/p/rules", { name: "jobs", match: { tags: ["heartbeat"] } });
    await report("ok");
    assert.equal((await alerts())[0].state, "resolved");
    assert.equal((await box.api("GET", ADDRESS)).body.heartbeats[0].rule, "jobs");
    await report("error");
    assert.equal((await alerts())[0].rule, "jobs");
  });

  test("a report from another source is refused and shown, and the job still counts as missing", async (t) => {
    const to = await connected("sentry");
    t.after(() => to.box.stop());
    const { box } = to;
    const of = { period_seconds: 3600, watch: { source: "cron" } };
    await box.api("POST", "/v1/projects/p/sources", { name: "cron", kind: "opsgenie" });
    await box.api("POST", ADDRESS, { name: "nightly", ...of });
    await box.api("POST", ADDRESS, { name: "mine", period_seconds: 3600 });
    await box.api("POST", ADDRESS, { name: "it", period_seconds: 3600 });
    for (const monitor_slug of ["nightly", "mine", "it"])
      for (const status of ["ok", "in_progress", "error"]) {
        const config = { schedule: { type: "interval", value: 1, unit: "year" } };
        const fields = { monitor_slug, status, monitor_config: config };
        const body = sentryEnvelope([["check_in", fields]]);
        await to.send(`/api/1/envelope/?sentry_key=${to.short}`, body.toString());
      }
    const all = await heartbeats(to);
    assert.deepEqual(
      all.map(({ slug, state }: Record<string, string>) => [slug, state]),
      [
        ["it", "new"],
        ["mine", "new"],
        ["nightly", "new"],
      ],
    );
    const { body: facts } = await box.api("GET", "/v1/projects/p/sources/it/facts");
    assert.match(facts.last_refused.message, /doesn't watch this source/);
    assert.equal((await to.alerts()).length, 3, "what failed is the source's own alert");
    // A heartbeat that names the source gets its reports, also after the source is renamed.
    const [{ id }] = all;
    await box.api("PATCH", `${ADDRESS}/${id}`, ofIt);
    await box.api("POST", "/v1/projects/p/sources/it/rename", { name: "web" });
    const body = sentryEnvelope([["check_in", { monitor_slug: "it", status: "ok" }]]);
    await to.send(`/api/1/envelope/?sentry_key=${to.short}`, body.toString());
    const [heard] = await heartbeats(to);
    assert.deepEqual([heard.state, heard.watch], ["up", { source: "web" }]);
  });

  test("Sentry: a check-in's schedule becomes a heartbeat's fields", () => {
    const pace = (monitor_config: unknown) =>
      sentryCheckIn({ monitor_slug: "m", status: "ok", monitor_config }, nothingWatched)?.pace;
    const interval = (value: unknown, unit: unknown) =>
      pace({ schedule: { type: "interval", value, unit } });
    assert.deepEqual(interval(10, "minute"), { period_seconds: 600 });
    assert.deepEqual(interval(1, "week"), { period_seconds: 604_800 });
    for (const [value, unit] of [
      [1, "century"],
      ["1", "day"],
      [1, "__proto__"],
      [1, null],
    ])
      assert.equal(interval(value, unit), null, String(unit));
    for (const config of [null, "x", {}, { schedule: [] }, { schedule: { type: "moon" } }])
      assert.equal(pace(config), null);
    assert.equal(sentryCheckIn({ monitor_slug: "m", status: "missed" }, nothingWatched), null);
  });

  test("Opsgenie: a ping with any method goes to the heartbeat whose slug is its name", async (t) => {
    const to = await connected("opsgenie");
    t.after(() => to.box.stop());
    await to.box.api("POST", ADDRESS, { name: "Nightly backup", period_seconds: 3600, ...ofIt });
    const ping = (name: string, method: string) =>
      to.send(`/v2/heartbeats/${name}/ping`, undefined, {
        method,
        body: null,
        headers: { authorization: `GenieKey ${to.short}` },
      });
    for (const method of ["GET", "POST", "PUT", "PATCH"]) {
      const heard = await ping("Nightly%20backup", method);
      assert.deepEqual([heard.status, heard.body.result], [202, "PONG - Heartbeat received"]);
    }
    assert.equal((await heartbeats(to))[0].state, "up");
    const { body: facts } = await to.box.api("GET", "/v1/projects/p/sources/it/facts");
    assert.deepEqual(facts.refused, {});
    const unknown = await ping("weekly", "POST");
    assert.equal(unknown.status, 404);
    const { body: after } = await to.box.api("GET", "/v1/projects/p/sources/it/facts");
    assert.match(after.last_refused.message, /no heartbeat with the slug weekly/);
  });

  test("OnCall: an integration's heartbeat is the one named like its source, at the fixed address too", async (t) => {
    const box = await testBox({ adaptersListen: "127.0.0.1:0" });
    t.after(() => box.stop());
    await box.project("p");
    const source = { name: "Prod alerts", kind: "oncall" };
    const { token } = (await box.api("POST", "/v1/projects/p/sources", source)).body;
    const call = async (method: string) => {
      const path = `/integrations/v1/alertmanager/${token}/heartbeat/`;
      const answer = await fetch(box.adaptersUrl + path, { method });
      return [answer.status, await answer.text()];
    };
    const [status, body] = await call("POST");
    assert.deepEqual([status, JSON.parse(String(body)).error.code], [404, "not_found"]);
    const { body: facts } = await box.api("GET", "/v1/projects/p/sources/Prod%20alerts/facts");
    assert.deepEqual(Object.values(facts.refused), [1]);
    assert.match(facts.last_refused.message, /no heartbeat with the slug prod-alerts/);
    await box.api("POST", ADDRESS, { name: "prod", slug: "prod-alerts", period_seconds: 60 });
    assert.deepEqual(await call("GET"), [200, '"Ok."']);
    const { heartbeats: all } = (await box.api("GET", ADDRESS)).body;
    assert.equal(all[0].state, "up");
  });
});
