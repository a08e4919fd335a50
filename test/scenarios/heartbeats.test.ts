import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { type Answer, type TestBox, testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";

/** Jobs that must report: missing, failed, running too long, and what is no lateness. */

const MINUTE = 60_000;
let box: TestBox;
beforeEach(async () => {
  box = await testBox();
  await box.project("p");
  await box.api("POST", "/v1/projects/p/rules", {
    name: "jobs",
    match: { tags: ["heartbeat"] },
    escalations: [{ accounts: [box.owner.accountId], after_minutes: 0 }],
  });
});
afterEach(() => box.stop());

interface Job {
  id: string;
  ping(more?: string, body?: string): Promise<Answer>;
  state(): Promise<string>;
}

async function job(body: object = {}): Promise<Job> {
  const made = await box.api("POST", "/v1/projects/p/heartbeats", {
    name: "nightly backup",
    period_seconds: 3600,
    grace_seconds: 600,
    ...body,
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id, ping_url } = made.body;
  const path = String(ping_url).slice(String(ping_url).indexOf("/ping/"));
  return {
    id,
    ping: (more = "", said) => call("POST", path + more, said),
    state: async () => (await box.api("GET", `/v1/projects/p/heartbeats/${id}`)).body.state,
  };
}

async function call(method: string, path: string, body?: string): Promise<Answer> {
  const answer = await fetch(box.url + path, { method, ...(body === undefined ? {} : { body }) });
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}

const alerts = async () => (await box.api("GET", "/v1/alerts")).body.alerts;
const minutes = async (n: number) => {
  for (let i = 0; i < n; i++) await box.clock.turn(MINUTE);
};
/** The box is down for so many minutes. */
const down = (n: number) => box.restart(() => void box.clock.turn(n * MINUTE));
/** Pages that went out, by alert. */
const pages = () =>
  box.tenant.store
    .sql<[], number>("SELECT count(*) FROM events WHERE event = 'alert.escalated'")
    .pluck()
    .get();

describe("a job that must report", () => {
  test("that is missing pages exactly once, and its late success resolves", async () => {
    const backup = await job();
    assert.equal(await backup.state(), "new");
    await minutes(180);
    assert.equal((await alerts()).length, 0, "what never reported is waited for by nobody");
    assert.equal((await backup.ping()).body, "OK");
    assert.equal(await backup.state(), "up");
    await minutes(61);
    assert.equal(await backup.state(), "late");
    assert.equal((await alerts()).length, 0);
    await minutes(10);
    const [alert, ...others] = await alerts();
    assert.deepEqual([others.length, alert.state, alert.dedup_key], [0, "open", backup.id]);
    assert.equal(alert.last_message, "nightly backup: no ping since 2026-01-05 12:00 UTC");
    assert.equal(await backup.state(), "down");
    await minutes(130);
    assert.equal((await alerts())[0].count, 1);
    assert.equal(pages(), 1);
    await backup.ping();
    assert.equal((await alerts())[0].state, "resolved");
    assert.equal(await backup.state(), "up");
    await minutes(130);
    assert.equal((await alerts()).length, 2, "missing anew is another alert");
    assert.equal(pages(), 2);
  });

  test("that fails alerts at once, with what it said last; failing again is the same", async () => {
    const backup = await job();
    await backup.ping("/3", `${"x".repeat(12_000)}\nno space left`);
    const [alert] = await alerts();
    assert.equal(alert.last_message, "nightly backup: failed with exit status 3");
    assert.match(alert.details, /^x+\nno space left$/);
    assert.equal(alert.details.length, 10_000);
    await backup.ping("/fail");
    const [same, ...others] = await alerts();
    assert.deepEqual([others.length, same.count, pages()], [0, 1, 1]);
    await backup.ping("/0");
    assert.equal((await alerts())[0].state, "resolved");
    const { runs } = (await box.api("GET", `/v1/projects/p/heartbeats/${backup.id}/runs`)).body;
    assert.deepEqual(
      runs.map((run: { outcome: string; exit_status: number | null }) => [
        run.outcome,
        run.exit_status,
      ]),
      [
        ["ok", 0],
        ["failed", null],
        ["failed", 3],
      ],
    );
  });

  test("that starts and doesn't end has run too long; its end, with its duration, resolves", async () => {
    const backup = await job({ max_run_seconds: 1800 });
    const rid = "123e4567-e89b-12d3-a456-426614174000";
    await backup.ping(`/start?rid=${rid}`);
    assert.equal(await backup.state(), "started");
    await minutes(29);
    await backup.ping("/start");
    assert.equal((await alerts()).length, 0);
    await minutes(2);
    assert.match((await alerts())[0].last_message, /^nightly backup: started at .* has not ended$/);
    await minutes(4);
    await backup.ping(`?rid=${rid}`, "done");
    assert.equal((await alerts())[0].state, "resolved");
    const { body } = await box.api("GET", `/v1/projects/p/heartbeats/${backup.id}`);
    assert.deepEqual([body.last_duration, body.last_message, body.state], [2100, "done", "up"]);
  });

  for (const [first, other] of [
    ["earlier", "later"],
    ["later", "earlier"],
  ] as const)
    test(`whose runs overlap: the ${other} is watched on when the ${first} has ended`, async () => {
      const rids = {
        earlier: "123e4567-e89b-12d3-a456-426614174000",
        later: "123e4567-e89b-12d3-a456-426614174001",
      };
      const backup = await job({ period_seconds: 86_400, max_run_seconds: 1800 });
      await backup.ping(`/start?rid=${rids.earlier}`);
      await minutes(10);
      await backup.ping(`/start?rid=${rids.later}`);
      await minutes(5);
      await backup.ping(`?rid=${rids[first]}`);
      assert.equal(await backup.state(), "started");
      await minutes(other === "later" ? 24 : 14);
      assert.deepEqual(await alerts(), []);
      await minutes(2);
      const [alert] = await alerts();
      assert.match(alert?.last_message ?? "", /^nightly backup: started at .* and has not ended$/);
      await backup.ping(`?rid=${rids[other]}`);
      assert.equal((await alerts())[0].state, "resolved");
      assert.equal(await backup.state(), "up");
    });

  test("by cron may report a moment early, as from a machine whose clock is ahead", async () => {
    const backup = await job({ period_seconds: undefined, cron: "30 * * * *" });
    const expected = async () => {
      const { body } = await box.api("GET", `/v1/projects/p/heartbeats/${backup.id}`);
      return new Date(body.expected_at * 1000).toISOString().slice(11, 16);
    };
    await backup.ping();
    assert.equal(await expected(), "09:30");
    await minutes(29);
    await backup.ping();
    assert.equal(await expected(), "10:30");
    // A call that is made twice is one report.
    await backup.ping();
    assert.equal(await expected(), "10:30");
    await minutes(60);
    await backup.ping();
    await minutes(30);
    assert.deepEqual(await alerts(), []);
    await minutes(45);
    assert.equal((await alerts()).length, 1, "the next one is missed");
  });

  test("by cron is due in its zone, on the days when clocks change, too", async () => {
    for (const [now, expected] of [
      // 02:30 isn't there on that night in Berlin: it runs at the gap's end, 03:00.
      ["2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"],
      // It is there twice: the first counts.
      ["2026-10-24T23:45:00Z", "2026-10-25T00:30:00Z"],
    ] as const) {
      await box.stop();
      box = await testBox({}, handClock(Date.parse(now)));
      await box.project("p");
      await box.api("POST", "/v1/projects/p/rules", { name: "jobs" });
      const backup = await job({
        period_seconds: undefined,
        cron: "30 2 * * *",
        timezone: "Europe/Berlin",
      });
      await backup.ping();
      const { body } = await box.api("GET", `/v1/projects/p/heartbeats/${backup.id}`);
      assert.equal(body.expected_at, Date.parse(expected) / 1000);
      await box.clock.turn(Date.parse(expected) + 5 * MINUTE - box.clock.now());
      await backup.ping();
      await box.clock.turn(65 * MINUTE);
      assert.equal((await alerts()).length, 0, "nothing more is expected in that night");
    }
  });
});

describe("what is no lateness", () => {
  test("a box that was down when the report was due pages nobody, and watches on", async () => {
    const backup = await job();
    await backup.ping();
    await minutes(55);
    await down(40);
    await minutes(60);
    assert.equal((await alerts()).length, 0);
    await minutes(15);
    assert.equal((await alerts()).length, 1, "the next time it is missing");
    assert.equal(pages(), 1);
  });

  test("a short stop leaves at least the grace, and hides nothing", async () => {
    const backup = await job();
    await backup.ping();
    await minutes(69);
    await down(0.5);
    await minutes(9);
    assert.equal((await alerts()).length, 0);
    await minutes(3);
    assert.equal((await alerts()).length, 1);
  });

  test("a stop long before the time that is expected changes nothing", async () => {
    const backup = await job({ period_seconds: 14_400 });
    await backup.ping();
    await minutes(60);
    await down(60);
    await minutes(4 * 60 - 120 + 9);
    assert.equal((await alerts()).length, 0);
    await minutes(3);
    assert.equal((await alerts()).length, 1);
  });

  test("a jump of the wall clock fires nothing and skips nothing", async () => {
    const backup = await job();
    await backup.ping();
    await minutes(30);
    box.clock.setWall(box.clock.now() + 6 * 3_600_000);
    await minutes(39);
    assert.equal((await alerts()).length, 0);
    await minutes(3);
    assert.equal((await alerts()).length, 1);
    await backup.ping();
    box.clock.setWall(box.clock.now() - 12 * 3_600_000);
    await minutes(69);
    assert.equal(
      (await alerts()).filter(({ state }: Answer["body"]) => state === "open").length,
      0,
    );
    await minutes(3);
    assert.equal((await alerts()).length, 2);
  });

  test("a restart while it is down pages nobody again", async () => {
    const backup = await job();
    await backup.ping("/fail");
    for (let i = 0; i < 3; i++) {
      await box.restart();
      await minutes(5);
    }
    assert.deepEqual([(await alerts()).length, pages()], [1, 1]);
    await backup.ping();
    assert.equal((await alerts())[0].state, "resolved");
  });
});

test("a Watchdog that fires is its Prometheus' ping, and its silence is an alert", async () => {
  const source = await box.api("POST", "/v1/projects/p/sources", {
    name: "am",
    kind: "alertmanager",
  });
  const send = async (alertname: string, status = "firing") => {
    const labels = { alertname, severity: "none" };
    const alert = { status, labels, startsAt: "2026-01-01T00:00:00Z", fingerprint: alertname };
    const body = JSON.stringify({ alerts: [alert] });
    const path = `/v1/in/alertmanager/${source.body.token}`;
    assert.equal((await call("POST", path, body)).status, 200);
  };
  const watch = { adapter: "alertmanager", match: { alertname: "Watchdog" } };
  const prometheus = await job({ period_seconds: 300, grace_seconds: 300, watch });
  await send("Other");
  await send("Watchdog", "resolved");
  assert.equal(await prometheus.state(), "new");
  await send("Watchdog");
  assert.equal(await prometheus.state(), "up");
  await minutes(9);
  await send("Watchdog");
  await minutes(9);
  assert.equal((await alerts()).length, 0);
  await minutes(2);
  assert.equal((await alerts()).length, 1);
  await send("Watchdog");
  assert.equal((await alerts())[0].state, "resolved");
});

describe("what a person does", () => {
  test("pausing ends the alert and watches no more; resuming watches from then on", async () => {
    const backup = await job();
    const at = `/v1/projects/p/heartbeats/${backup.id}`;
    await backup.ping("/fail");
    assert.equal((await box.api("POST", `${at}/pause`)).body.state, "paused");
    assert.equal((await alerts())[0].state, "resolved");
    await backup.ping("/fail");
    await minutes(130);
    assert.equal((await alerts()).length, 1);
    assert.equal((await box.api("POST", `${at}/resume`)).body.state, "up");
    await minutes(69);
    assert.equal((await alerts()).length, 1);
    await minutes(3);
    assert.equal((await alerts()).length, 2);
    assert.equal((await box.api("DELETE", at)).status, 200);
    assert.equal((await alerts())[0].state, "resolved");
    assert.equal((await backup.ping()).status, 404);
  });

  test("rotating makes the old addresses nobody's", async () => {
    const backup = await job({ uuid: "5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278" });
    assert.equal((await call("GET", "/ping/5bf66975-D4C7-4bf5-bcc8-b8d8a82ea278")).status, 200);
    const at = `/v1/projects/p/heartbeats/${backup.id}/rotate`;
    const { body } = await box.api("POST", at);
    assert.equal((await backup.ping()).status, 404);
    assert.equal((await call("GET", "/ping/5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278")).status, 404);
    assert.equal((await call("GET", `/ping/${body.uuid}`)).status, 200);
  });

  test("the answer names the rule that hears of it, or says that none does", async () => {
    const backup = await job();
    const at = `/v1/projects/p/heartbeats/${backup.id}`;
    assert.equal((await box.api("GET", at)).body.rule, "jobs");
    await box.api("DELETE", "/v1/projects/p/rules/jobs");
    assert.equal((await box.api("GET", at)).body.rule, null);
  });

  test("what can't be meant is refused by its field", async () => {
    const refused = async (body: object) =>
      (await box.api("POST", "/v1/projects/p/heartbeats", { name: "x", ...body })).body.error;
    assert.equal((await refused({})).details[0].field, "/cron");
    assert.equal(
      (await refused({ cron: "0 0 * * *", period_seconds: 60 })).details[0].field,
      "/cron",
    );
    for (const never of ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "59 23 31 2 *"])
      assert.equal((await refused({ cron: never })).details[0].reason, "never comes", never);
    for (const period_seconds of [1, 9, 0, -60, 10.5])
      assert.equal((await refused({ period_seconds })).details[0].field, "/period_seconds");
    assert.equal(
      (await refused({ period_seconds: 60, grace_seconds: 0 })).details[0].field,
      "/grace_seconds",
    );
    assert.equal((await refused({ cron: "0 0 0 * * *" })).code, "invalid_request");
    assert.equal(
      (await refused({ cron: "0 0 * * *", timezone: "No/Zone" })).code,
      "invalid_timezone",
    );
    await job();
    assert.equal(
      (await refused({ name: "nightly backup", period_seconds: 60 })).code,
      "name_taken",
    );
  });
});

describe("the address", () => {
  test("takes Healthchecks' calls and answers as they do", async () => {
    const uuid = "5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278";
    const made = await box.api("POST", "/v1/projects/p/sources", { name: "s", kind: "heartbeats" });
    const key = made.body.short_token;
    await job({ uuid });
    for (const [line, status, text] of [
      [`GET /ping/${uuid}`, 200, "OK"],
      [`HEAD /ping/${uuid}`, 200, ""],
      [`POST /ping/${uuid}/start?rid=123e4567-e89b-12d3-a456-426614174000`, 200, "OK"],
      [`POST /ping/${uuid}?rid=123e4567-e89b-12d3-a456-426614174000`, 200, "OK"],
      [`POST /ping/${uuid}/fail/`, 200, "OK"],
      [`GET /ping/${uuid}/0`, 200, "OK"],
      [`GET /ping/${uuid}/137`, 200, "OK"],
      [`GET /ping/${uuid}/256`, 400, "invalid url format"],
      [`POST /ping/${uuid}/log`, 200, "OK"],
      [`GET /ping/${uuid}?rid=nonsense`, 400, "invalid uuid format"],
      ["GET /ping/11111111-2222-3333-4444-555555555555", 404, "not found"],
      [`GET /ping/${key}/nightly-backup`, 200, "OK"],
      [`GET /ping/${key}/Nightly-Backup`, 400, "invalid url format"],
      [`GET /ping/${key}/new-job`, 404, "not found"],
      [`GET /ping/${key}/new-job?create=1`, 201, "Created"],
      [`GET /ping/${key}/new-job/fail`, 200, "OK"],
      [`GET /ping/${"0".repeat(32)}/x?create=1`, 404, "not found"],
      [`PUT /ping/${uuid}`, 405, "method not allowed"],
    ] as const) {
      const [method = "", path = ""] = line.split(" ");
      const answer = await call(method, path);
      assert.deepEqual([answer.status, answer.body], [status, text], line);
      assert.equal(answer.headers.get("access-control-allow-origin"), "*", line);
    }
    const { heartbeats } = (await box.api("GET", "/v1/projects/p/heartbeats")).body;
    assert.deepEqual(
      heartbeats.map(({ name, state }: Answer["body"]) => [name, state]),
      [
        ["new-job", "down"],
        ["nightly backup", "up"],
      ],
    );
  });

  test("a HEAD counts, and a flood is refused while the state stays right", async () => {
    const uuid = "5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278";
    const backup = await job({ uuid });
    await backup.ping("/fail");
    assert.equal((await call("HEAD", `/ping/${uuid}`)).status, 200);
    assert.equal(await backup.state(), "up");
    const answers = await Promise.all(Array.from({ length: 320 }, () => backup.ping()));
    const statuses = new Set(answers.map(({ status }) => status));
    assert.deepEqual([...statuses].sort(), [200, 429]);
    assert.ok(answers.find(({ status }) => status === 429)?.headers.get("retry-after"));
    assert.equal(await backup.state(), "up");
    await box.clock.turn(10_000);
    assert.equal((await backup.ping("/fail")).status, 200);
    assert.equal(await backup.state(), "down");
    const { runs } = (await box.api("GET", `/v1/projects/p/heartbeats/${backup.id}/runs?limit=100`))
      .body;
    assert.equal(runs.length, 100);
  });

  test("a body of any length is taken, its end is kept, cut at a character", async () => {
    const backup = await job();
    await backup.ping("/log", `${"ä".repeat(700_000)}!`);
    const { body } = await box.api("GET", `/v1/projects/p/heartbeats/${backup.id}`);
    assert.match(body.last_message, /^ä+$/, "what is past the first mebibyte isn't read");
    await backup.ping("/log", `${"ä".repeat(7000)}!`);
    const next = await box.api("GET", `/v1/projects/p/heartbeats/${backup.id}`);
    assert.match(next.body.last_message, /^ä{4999}!$/);
    assert.equal(next.body.state, "new");
  });
});
