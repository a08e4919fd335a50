import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { createProject, getProject } from "../../../src/core/projects/projects.ts";
import { createSource, findSource, type Source } from "../../../src/core/projects/sources.ts";
import { ServiceError } from "../../../src/ground/kit/errors.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { openStore, type Store } from "../../../src/ground/store/store.ts";
import { checkEvent, eventChars, type IngestEvent } from "../../../src/in/ingest/event.ts";
import { createIngest } from "../../../src/in/ingest/handle.ts";
import { createWriter, defaultWriterLimits } from "../../../src/in/ingest/writer.ts";
import { testBox } from "../../support/box.ts";
import { handClock } from "../../support/clock.ts";

const event = (text: string) => checkEvent(JSON.parse(text), text);
const said = (message: string) => event(JSON.stringify({ message }));

function openedStore(t: TestContext): Store {
  const directory = mkdtempSync(join(tmpdir(), "box-bounds-"));
  const store = openStore({
    path: join(directory, "box.db"),
    kind: "box",
    clock: handClock(),
    random: systemRandom,
    onFatal: (error) => {
      throw error;
    },
  });
  t.after(() => {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return store;
}

/** A project with a source and a rule that every event matches. */
function makeSource(store: Store, name: string): Source {
  return store.write((tx) => {
    createProject(tx, name);
    const project = getProject(tx, name);
    const { token } = createSource(tx, project, {
      tenantId: "0".repeat(16),
      name: "s",
      retainLogs: false,
    });
    tx.sql(
      "INSERT INTO rules (project_id, name, body, created_at, updated_at) VALUES (?, 'any', ?, 0, 0)",
    ).run(
      project.id,
      JSON.stringify({
        match: { min_level: null, sources: [], tags: [], template_contains: "" },
        conditions: [],
        fire_after: { count: 1, distinct_sources: 1, window_minutes: 1 },
        dedup_window_minutes: 0,
        auto_resolve_quiet_minutes: 0,
        renotify_minutes: 0,
        max_renotify: 0,
        identifier_keys: [],
        investigate: false,
        actions: null,
        escalations: [],
      }),
    );
    return findSource(tx, token) as Source;
  });
}

const counts = (store: Store) =>
  Object.fromEntries(
    (
      store.sql("SELECT template, count FROM alerts").all() as { template: string; count: number }[]
    ).map(({ template, count }) => [template, count]),
  );

const WORDS = ["disk full", "login refused by the gate", "no route to host any more"] as const;

describe("memory of standing alerts", () => {
  test("with fewer alerts in memory than are open, no count is lost", (t) => {
    const store = openedStore(t);
    const source = makeSource(store, "p");
    const writer = createWriter(store, { ...defaultWriterLimits, openAlerts: 1 });
    const batch = (...messages: string[]) =>
      writer.process(messages.map((message) => ({ source, event: said(message) })));
    const [a, b, c] = WORDS;
    batch(a, b, c);
    batch(a, b, a, c, b, a);
    batch(a);
    assert.deepEqual(counts(store), { [a]: 5, [b]: 3, [c]: 2 });
  });
});

describe("memory of templates", () => {
  test("the projects used last stay in memory; the others are read again unchanged", (t) => {
    const store = openedStore(t);
    const sources = ["p", "q", "r"].map((name) => makeSource(store, name));
    const limits = { ...defaultWriterLimits, heldTemplates: 4 };
    const writer = createWriter(store, limits);
    const ids = () =>
      sources.flatMap((source) =>
        WORDS.map((message) => writer.process([{ source, event: said(message) }])[0]?.template_id),
      );
    const first = ids();
    assert.ok(writer.stats().templates <= 4 + WORDS.length, `${writer.stats().templates}`);
    assert.deepEqual(ids(), first);
    assert.deepEqual(Object.values(counts(store)), Array(3).fill(2));
    assert.equal(store.sql("SELECT count(*) FROM alerts").pluck().get(), 9);
  });
});

describe("the queue", () => {
  test("events above the limits are refused before any write, counting everything in an event", (t) => {
    const store = openedStore(t);
    const source = makeSource(store, "p");
    const ingest = createIngest(store, {
      batch: { waitingEvents: 2, waitingChars: 1000, batch: 500 },
    });
    const big = event(
      JSON.stringify({ message: "", keys: { k: "v".repeat(900) }, tags: ["t".repeat(50)] }),
    );
    assert.equal(eventChars(big), 951);
    const overloaded = (error: unknown) =>
      error instanceof ServiceError && error.code === "overloaded" && error.retryAfter === 1;
    const before = store.sql("SELECT total_changes()").pluck().get();
    const settled: number[] = [];

    const submit = (...events: IngestEvent[]) =>
      ingest.submit(source, events, (_error, answers) => settled.push(answers?.length ?? 0));
    submit(big);
    assert.throws(() => submit(said("x".repeat(50))), overloaded, "characters");
    submit(said("x"));
    assert.throws(() => submit(said("")), overloaded, "events");
    assert.equal(store.sql("SELECT total_changes()").pluck().get(), before);
    assert.deepEqual([settled, ingest.stats().waiting, ingest.stats().shed], [[], 2, 2]);

    ingest.drain();
    assert.deepEqual([settled, ingest.stats().waiting], [[1, 1], 0]);
    submit(said("x"), said("x".repeat(999)));
    assert.equal(ingest.stats().waiting, 2);
    ingest.drain();
  });
});

test("while events are refused, acknowledgements, reads and pages go on", async () => {
  const box = await testBox();
  try {
    const token = await box.project("p");
    await box.api("POST", "/v1/projects/p/rules", { name: "any", renotify_minutes: 1 });
    const hook = await box.api("POST", "/v1/projects/p/webhooks", { url: "http://127.0.0.1:9/" });
    assert.equal((await box.ingest(token, { message: "disk full" })).status, 202);
    box.tenant.ingest.shed("storage_full");
    const writes = () => box.tenant.store.sql("SELECT total_changes()").pluck().get();
    const before = writes();
    const refused = await box.ingest(token, { message: "disk full" });
    assert.equal(refused.status, 429);
    assert.equal(refused.body.error.code, "storage_full");
    assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.equal(writes(), before);

    const deliveries = async () =>
      (
        await box.api("GET", `/v1/projects/p/integrations/${hook.body.id}/deliveries`)
      ).body.deliveries.map(({ event }: { event: string }) => event);
    await box.clock.turn(61_000);
    assert.ok((await deliveries()).includes("alert.renotified"), "pages go on");
    const { alerts } = (await box.api("GET", "/v1/alerts")).body;
    assert.equal(
      (await box.api("POST", `/v1/alerts/${alerts[0].id}/ack`)).body.state,
      "acknowledged",
    );
    assert.ok((await deliveries()).includes("alert.acknowledged"));
    // The disk job ran in between and found space.
    assert.equal((await box.ingest(token, { message: "disk full" })).status, 202);
  } finally {
    await box.stop();
  }
});
