import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createProject, getProject } from "../../../src/core/projects/projects.ts";
import { ServiceError } from "../../../src/ground/kit/errors.ts";
import { silentLog } from "../../../src/ground/kit/log.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { createReport, getReport } from "../../../src/records/reports/reports.ts";
import { createApp } from "../../../src/web/http/app.ts";
import { createDecoder } from "../../../src/web/http/inbound/decoder.ts";
import { createLimits } from "../../../src/web/http/limits.ts";
import { type FoundReport, publicPageRoutes } from "../../../src/web/http/public-pages.ts";
import { createRefusals } from "../../../src/web/http/refusals.ts";
import { testApp } from "../../support/app.ts";

const HTML = { accept: "text/html" };

/** The pages alone, over TLS of their own, with a lookup that knows one report. */
async function pages(t: TestContext) {
  const { tenant, clock } = testApp(t, { role: "hosted", publicUrl: "" });
  const passwordHash = await tenant.passwords.hash("right");
  const report = tenant.store.write((tx) => {
    createProject(tx, "p");
    const project = getProject(tx, "p");
    const made = createReport(tx, project, {
      title: "a",
      description: "",
      alertId: null,
      passwordHash,
      createdBy: "x",
    });
    return getReport(tx, project, made.id);
  });
  const asked: string[] = [];
  const limits = createLimits(clock, { ingest: 0, api: 0, pair: 0 });
  const app = createApp({
    routes: [],
    raw: publicPageRoutes({
      async findReport(uuid): Promise<FoundReport | null> {
        asked.push(uuid);
        return uuid === report.publicUuid ? { tenant, report } : null;
      },
      tries: limits.tries,
      address: () => "192.0.2.1",
      tls: true,
    }),
    serving: {
      limits,
      findTenant: () => null,
      findLinked: () => null,
      findCalled: () => null,
      ownTenant: () => null,
      address: () => "192.0.2.1",
      known() {},
      refusals: createRefusals(clock, silentLog),
      decoder: createDecoder(clock),
    },
    log: silentLog,
    random: systemRandom,
  });
  const ask = (path: string, init: RequestInit = {}) =>
    app.request(`https://box.test${path}`, { headers: HTML, ...init });
  const enter = (password: string, headers: Record<string, string> = HTML) =>
    ask(path, { method: "POST", headers, body: new URLSearchParams({ password }) });
  const path = `/public/reports/${report.publicUuid}`;
  return { tenant, asked, ask, enter, path };
}

test("where TLS is ours every answer says so, and the cookie is secure", async (t) => {
  const { ask, enter, path } = await pages(t);
  const answers = [
    await ask(path),
    await ask("/public/reports/x"),
    await ask(`${path}/`),
    await ask(`${path}/feed.xml`),
    await enter("wrong"),
    await enter("right"),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 404, 404, 401, 401, 303],
  );
  for (const { headers } of answers) {
    assert.equal(headers.get("strict-transport-security"), "max-age=2592000");
    assert.match(headers.get("x-request-id") ?? "", /^[0-9a-f]{16}$/);
  }
  const cookie = answers.at(-1)?.headers.get("set-cookie") ?? "";
  assert.match(cookie, /^__Secure-report=.*; Secure$/);
  const [pair = ""] = cookie.split(";");
  const feed = await ask(`${path}/feed.xml`, { headers: { cookie: pair } });
  assert.ok((await feed.text()).includes(`href="https://box.test${path}"`));
});

test("the lookup is the role's own, and hears what stood in the path", async (t) => {
  const { ask, asked, path } = await pages(t);
  await ask(`${path}?refresh=off`);
  await ask("/public/reports/a%2Fb");
  await ask("/public/reports/%F0%9F%98%80/feed.xml");
  assert.deepEqual(asked, [path.split("/").at(-1), "a/b", "😀"]);
});

test("too many passwords under way: the reader is told to wait, the try is spent", async (t) => {
  const { tenant, enter } = await pages(t);
  tenant.passwords.verify = () => {
    throw new ServiceError("overloaded", "Too many at once.", { retryAfter: 3 });
  };
  const page = await enter("right");
  assert.deepEqual([page.status, page.headers.get("retry-after")], [429, "3"]);
  assert.equal(page.headers.get("ratelimit"), '"tries";r=9;t=1');
  assert.match(await page.text(), /Wait 3 seconds/);
  const json = await enter("right", { accept: "application/json" });
  const { error } = (await json.json()) as { error: { code: string } };
  assert.deepEqual([json.status, error.code], [429, "overloaded"]);
  tenant.passwords.verify = () => Promise.reject(new Error("broken"));
  assert.equal((await enter("right")).status, 500);
});
