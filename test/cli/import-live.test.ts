import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { teams } from "../records/import/teams.ts";
import { box as run } from "../support/command-line.ts";
import { scratch } from "../support/scratch.ts";

const NOW = Math.floor(Date.now() / 1000);
const TOKEN = "token-of-the-test";
const DAY = 86_400;
const iso = (days: number) => new Date((NOW + days * DAY) * 1000).toISOString();

type Answers = Readonly<Record<string, unknown>>;
type Fields = Record<string, unknown>;

/** A system: the whole answer for each path, and how its API cuts a list into pages of two. */
interface System {
  header: [name: string, value: string];
  /** The header that says how long to wait, in seconds. */
  wait: string;
  answers: Answers;
  page(whole: unknown, url: URL, body: Fields): unknown;
}

const given = (system: string): Fields =>
  (teams(NOW).find((one) => one.system === system)?.files ?? {}) as Fields;

const cut = (list: unknown[], from: number) => list.slice(from, from + 2);

function pagerduty(): System {
  const files = given("pagerduty");
  return {
    header: ["authorization", `Token token=${TOKEN}`],
    wait: "ratelimit-reset",
    answers: {
      "/users": files["users.json"],
      "/escalation_policies": files["policies.json"],
      "/services": files["services.json"],
      "/maintenance_windows": { maintenance_windows: [] },
      "/schedules": { schedules: [{ id: "PS1", name: "Primary" }] },
      "/schedules/PS1": files["PS1.json"],
      "/schedules/PS1/overrides": files["overrides-PS1.json"],
    },
    page(whole, url) {
      const [[key, list] = ["", []]] = Object.entries(whole as Fields);
      if (!Array.isArray(list) || !url.searchParams.has("limit")) return whole;
      const offset = Number(url.searchParams.get("offset"));
      const more = offset + 2 < list.length;
      return { [key]: cut(list, offset), limit: 2, offset, more, total: null };
    },
  };
}

function opsgenie(): System {
  const files = given("opsgenie");
  const backup = files["S1.json"] as { schedule: Fields; scheduleOverrideList: unknown[] };
  const timeline = {
    startDate: iso(-1),
    endDate: iso(1),
    finalTimeline: { rotations: [{ periods: [] }] },
  };
  return {
    header: ["authorization", `GenieKey ${TOKEN}`],
    wait: "x-ratelimit-period-in-sec",
    answers: {
      "/v2/users": files["users.json"],
      "/v2/escalations": files["escalations.json"],
      "/v2/integrations": { data: [{ id: "I", name: "api", type: "API", enabled: true }] },
      "/v2/heartbeats": { data: { heartbeats: [] } },
      "/v2/schedules": { data: [backup.schedule] },
      "/v2/teams": { data: [{ id: "T", name: "ops" }] },
      "/v2/teams/T": { data: { id: "T", name: "ops", members: [] } },
      "/v2/teams/T/routing-rules": { data: [] },
      "/v2/schedules/S1/overrides": { data: backup.scheduleOverrideList },
      "/v2/schedules/S1/timeline": { data: timeline },
    },
    page(whole, url) {
      const list = (whole as Fields)["data"];
      if (!Array.isArray(list) || !url.searchParams.has("limit")) return whole;
      const offset = Number(url.searchParams.get("offset"));
      const at = (n: number) => `https://api.opsgenie.com${url.pathname}?limit=2&offset=${n}`;
      const next = offset + 2 < list.length ? { next: at(offset + 2) } : {};
      const prev = offset === 0 ? {} : { prev: at(offset - 2) };
      return {
        data: cut(list, offset),
        paging: { ...next, ...prev, first: at(0), last: at(list.length - 1) },
      };
    },
  };
}

function oncall(): System {
  const files = given("oncall");
  const none = { results: [] };
  const lists = ["teams", "escalation_chains", "escalation_policies", "integrations", "routes"];
  const final = { user_pk: "ann@example.org", shift_start: iso(1), shift_end: iso(2) };
  return {
    header: ["authorization", TOKEN],
    wait: "retry-after",
    answers: {
      "/api/v1/users/": files["users.json"],
      "/api/v1/schedules/": files["schedules.json"],
      "/api/v1/on_call_shifts/": files["shifts.json"],
      ...Object.fromEntries([...lists, "shift_swaps"].map((name) => [`/api/v1/${name}/`, none])),
      "/api/v1/schedules/S1/final_shifts/": { results: [final, final, final] },
    },
    page(whole, url) {
      const list = (whole as { results: unknown[] }).results;
      const page = Number(url.searchParams.get("page") ?? 1);
      const at = (n: number) => `http://behind.proxy.example${url.pathname}?page=${n}`;
      const next = page * 2 < list.length ? at(page + 1) : null;
      const previous = page === 1 ? null : at(page - 1);
      return { count: list.length, next, previous, results: cut(list, (page - 1) * 2) };
    },
  };
}

function goalert(): System {
  const files = given("goalert");
  return {
    header: ["cookie", `goalert_session.2=${TOKEN}`],
    wait: "retry-after",
    answers: { "/api/graphql": files["export.json"] },
    page(whole, _url, { query, variables }) {
      const { data } = whole as { data: Record<string, { nodes: unknown[] }> };
      const paged = Object.entries(data).map(([name, { nodes }]) => {
        assert.ok(String(query).includes(`${name}(input: {first: 150, after: $${name}})`));
        const from = Number((variables as Fields)[name] ?? 0);
        const hasNextPage = from + 2 < nodes.length;
        return [
          name,
          { nodes: cut(nodes, from), pageInfo: { hasNextPage, endCursor: `${from + 2}` } },
        ];
      });
      return { data: Object.fromEntries(paged) };
    },
  };
}

interface Bad {
  /** Refuses two requests with 429. */
  throttles?: boolean;
  /** The path that fails, and the answer's status. */
  fails?: [path: string, status: number];
}

/** An address at which the system answers, and the paths that it was asked for. */
async function serve(
  t: { after(done: () => void): void },
  { header: [name, value], wait, answers, page }: System,
  { throttles = false, fails }: Bad = {},
) {
  const asked: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse, text: string) => {
    const url = new URL(request.url ?? "", "http://localhost");
    asked.push(url.pathname);
    const say = (status: number, body: unknown, headers = {}) =>
      response.writeHead(status, headers).end(JSON.stringify(body));
    if (request.headers[name] !== value) return say(401, { message: "no" });
    if (throttles && [2, 5].includes(asked.length)) return say(429, {}, { [wait]: "1" });
    if (url.pathname === fails?.[0]) return say(fails[1], { message: "broken" });
    if (!(url.pathname in answers)) return say(404, {});
    const body = (text === "" ? {} : JSON.parse(text)) as Fields;
    return say(200, page(answers[url.pathname], url, body));
  };
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => answer(request, response, text));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const systems: Readonly<Record<string, () => System>> = { pagerduty, opsgenie, oncall, goalert };

for (const [system, make] of Object.entries(systems)) {
  test(`${system} is read page by page, more slowly where it asks for that, as its files are`, async (t) => {
    const known = make();
    const folder = scratch(t);
    // A list of schedules without layers isn't part of an export.
    for (const [path, value] of Object.entries(known.answers))
      if (path !== "/schedules" && path !== "/v2/teams")
        writeFileSync(join(folder, `${path.replaceAll("/", "-")}.json`), JSON.stringify(value));
    const { url, asked } = await serve(t, known, { throttles: true });
    const live = ["--from-url", url, "--token", "-"];
    const found = await run(["import", system, ...live], { input: `${TOKEN}\n` });
    assert.equal(found.code, 0, found.err);
    assert.match(found.err, /429: waiting 1 seconds/);
    assert.ok(asked.length > Object.keys(known.answers).length);
    const fromFiles = await run(["import", system, folder]);
    assert.equal(found.out, fromFiles.out);
    assert.match(found.out, /eve@example\.org/, "who is on the second page");
    // The files' names are others.
    const report = (text: string) => text.replace(/^(429|.*\.json: It is empty).*\n/gm, "");
    assert.equal(report(found.err), report(fromFiles.err));
    assert.ok(!(found.err + found.out).includes(TOKEN));
  });

  test(`nothing is written where ${system} fails in the middle, refuses the token, or answers no JSON`, async (t) => {
    const known = make();
    const folder = scratch(t);
    const output = join(folder, "box.yaml");
    const last = Object.keys(known.answers).at(-1) ?? "";
    const asks = async (bad: Bad, token = TOKEN) => {
      const { url } = await serve(t, known, bad);
      const live = ["--from-url", url, "--token", "-", "--output", output];
      return run(["import", system, ...live], { input: token });
    };
    const broken = await asks({ fails: [last, 500] });
    assert.notEqual(broken.code, 0);
    assert.ok(broken.err.includes(`${last}`), broken.err);
    assert.match(broken.err, /the answer 500\. Nothing was written/);
    const refused = await asks({}, "another");
    assert.match(refused.err, /the answer 401: the token isn't allowed/);
    assert.ok(!refused.err.includes("another"));
    assert.deepEqual(readdirSync(folder), []);
  });
}

test("GoAlert's own refusal of a query is told", async (t) => {
  const known = goalert();
  const refusal = { errors: [{ message: "not allowed" }], data: null };
  const { url } = await serve(t, { ...known, page: () => refusal });
  const said = await run(["import", "goalert", "--from-url", url, "--token", "-"], {
    input: TOKEN,
  });
  assert.notEqual(said.code, 0);
  assert.match(said.err, /GoAlert refused the query: not allowed/);
});

test("a running Alertmanager shows its configuration and silences without a token", async (t) => {
  const original = "route:\n  receiver: chat\nreceivers:\n  - name: chat\n";
  const { url } = await serve(t, {
    header: ["authorization", undefined as unknown as string],
    wait: "",
    answers: { "/api/v2/status": { config: { original } }, "/api/v2/silences": [] },
    page: (whole) => whole,
  });
  const { code, out, err } = await run(["import", "alertmanager", "--from-url", url]);
  assert.equal(code, 0, err);
  assert.match(out, /alertmanager/);
});

test("a token goes over TLS, or to an address nearby, and to no address that is nobody's", async (t) => {
  const file = join(scratch(t), "token");
  writeFileSync(file, TOKEN);
  const asks = async (url: string, token = file) =>
    (await run(["import", "opsgenie", "--from-url", url, "--token", token])).err;
  assert.match(await asks("http://api.opsgenie.com"), /in clear text: use https/);
  assert.match(await asks("http://169.254.169.254"), /in clear text: use https/);
  assert.match(await asks("https://169.254.169.254"), /address_refused/);
  assert.match(await asks("ftp://x"), /is no address/);
  writeFileSync(file, "two words");
  assert.match(await asks("https://127.0.0.1:1"), /one token and nothing else/);
  assert.match((await run(["import", "opsgenie", "--from-url", "https://x"])).err, /needs a token/);
  assert.match((await run(["import", "opsgenie"])).err, /name files, or --from-url/);
  assert.match(
    (await run(["import", "opsgenie", "x", "--token", file])).err,
    /--token needs --from-url/,
  );
  assert.equal(readFileSync(file, "utf8"), "two words");
});
