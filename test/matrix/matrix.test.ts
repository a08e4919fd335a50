import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import { setImmediate } from "node:timers/promises";
import { errorStatus } from "../../src/ground/kit/errors.ts";
import type { Role } from "../../src/ground/store/columns.ts";
import { mergeKeys } from "../../src/in/ingest/merged-keys.ts";
import { mintKey } from "../../src/people/keys.ts";
import { type Answer, type TestBox, testBox } from "../support/box.ts";
import { inBoth, long, test } from "../support/long.ts";
import { noteStatements, tooWide, wideReads } from "../support/plans.ts";
import { askUntil, pass } from "../support/until.ts";
import { type Document, type Operation, readDocument } from "./document.ts";
import { type Fixture, fixture, pathOf } from "./fixture.ts";

const noted = noteStatements();
let box: TestBox;
let stranger: TestBox;
let document: Document;
let backups: string;
let ingestToken: string;
const keys = new Map<Role, string>();
before(async () => {
  backups = mkdtempSync(join(tmpdir(), "box-matrix-"));
  [box, stranger] = await Promise.all([testBox({ backupDir: backups }), testBox()]);
  document = await readDocument(box.url);
  ingestToken = await box.project("plain");
  for (const role of ["owner", "admin", "member"] as const) keys.set(role, box.person(role).key);
  // The first use of a key in a minute is written down, which is no doing of the route's.
  for (const key of keys.values()) await box.api("GET", "/v1/me", undefined, key);
});
after(async () => {
  noted.stop();
  await Promise.all([box.stop(), stranger.stop()]);
  rmSync(backups, { recursive: true, force: true });
});

/** Authorization fields that open nothing on the API-key plane. */
function refusedBearers(): Record<string, string | null> {
  const { accountId } = box.person("owner");
  const revoked = box.tenant.store.write((tx) => mintKey(tx, box.tenant.id, accountId));
  box.tenant.store.write((tx) => tx.sql("DELETE FROM api_keys WHERE id = ?").run(revoked.id));
  const good = keys.get("owner") ?? "";
  return {
    none: null,
    empty: "",
    malformed: "Bearer ptk_",
    "another scheme": `Basic ${good}`,
    "two tokens": `Bearer ${good} ${good}`,
    "too long": `Bearer ${good}0`,
    "ingest token": `Bearer ${ingestToken}`,
    "session token": `Bearer pts_${"a".repeat(43)}`,
    "unknown key": `Bearer ptk_${box.tenant.id}_${"a".repeat(43)}`,
    "revoked key": `Bearer ${revoked.key}`,
    "another tenant's key": `Bearer ${stranger.owner.key}`,
  };
}

async function call(
  operation: Operation,
  path: string,
  how: { authorization: string | null; body?: unknown },
): Promise<Answer> {
  const { authorization, body } = how;
  const answer = await fetch(box.url + path, {
    method: operation.method,
    redirect: "manual",
    headers: authorization === null ? {} : { authorization },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  // It notes what it found when it has ended, which is no write of a later route.
  if (operation.path === "/v1/doctor" && answer.ok)
    await askUntil(
      () => box.api("GET", "/v1/doctor"),
      ({ running }) => !running,
    );
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
}

/** A fixture for each operation, and one for all that only read: what they find is as it was. */
function readers() {
  const kept = new Map<string, Promise<Fixture>>();
  return (operation: Operation, key: string): Promise<Fixture> => {
    if (operation.method !== "GET") return fixture(box, key);
    const known = kept.get(key) ?? fixture(box, key);
    kept.set(key, known);
    return known;
  };
}

/** They take a body and change nothing. */
const onlyTries = new Set([
  "tryMapping",
  "explainTemplate",
  "tryRule",
  "previewLadder",
  "simulateRule",
  "sweepRule",
  "previewDraft",
  "previewBulkSilence",
  "previewSilence",
  "previewReportEntry",
  "draftReportEntry",
  "checkSignature",
  "askAsAssistant",
]);

/** How many rows this process has written: what is refused must write none. */
const writes = () => box.tenant.store.sql("SELECT total_changes()").pluck().get();

/** The same, once jobs that the request before woke have written theirs. */
async function settledWrites() {
  let now = writes();
  for (let equal = 0; equal < 5; equal++) {
    for (let turn = 0; turn < 3; turn++) await setImmediate();
    if (writes() === now) continue;
    now = writes();
    equal = -1;
  }
  return now;
}

describe("the document", () => {
  test("names every error by a code of the closed list, with that code's status", () => {
    assert.deepEqual(document.codes.toSorted(), Object.keys(errorStatus).toSorted());
    for (const operation of document.operations)
      for (const [status, codes] of operation.codes)
        for (const code of codes)
          assert.equal(
            errorStatus[code as keyof typeof errorStatus],
            status,
            `${operation.id}: ${code}`,
          );
  });

  test("has every method that a path takes, and no other is taken", async () => {
    const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
    const paths = new Set(document.operations.map(({ path }) => path));
    for (const path of paths) {
      const asked = path.replaceAll(/\{[^}]+\}/g, "0");
      const operations = document.operations.filter((operation) =>
        new RegExp(`^${operation.path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`).test(asked),
      );
      // A path without a parameter may take what the one beside it with a parameter takes too.
      const documented = [...new Set(operations.map(({ method }) => method))];
      for (const method of methods.filter((one) => !documented.includes(one))) {
        const answer = await fetch(box.url + asked, { method });
        assert.equal(answer.status, 405, `${method} ${path}`);
        const allowed = (answer.headers.get("allow") ?? "")
          .split(", ")
          .filter((one) => one !== "HEAD");
        assert.deepEqual(allowed, documented.toSorted(), path);
        await answer.text();
      }
    }
  });
});

describe("who may do what", () => {
  for (const [as, others] of inBoth(1, 10))
    as(
      `what opens nothing is 401 on every route, all with one answer, and writes nothing: none, and ${others} of the others in turn`,
      async () => {
        const [none, ...more] = Object.entries(refusedBearers());
        assert.ok(none);
        assert.ok(others === 1 || others === more.length);
        const bodies = new Set<string>();
        const f = await fixture(box);
        const operations = document.operations.filter(({ scheme }) => scheme === "apiKey");
        for (const [n, operation] of operations.entries()) {
          const path = await pathOf(f, operation);
          const body = await f.body(operation);
          const from = (n * others) % more.length;
          for (const [kind, authorization] of [none, ...more.slice(from, from + others)]) {
            const before = writes();
            const answer = await call(operation, path, { authorization, body });
            assert.equal(answer.status, 401, `${operation.id} with ${kind}`);
            assert.equal(answer.headers.get("www-authenticate"), "Bearer");
            assert.equal(writes(), before, `${operation.id} with ${kind} wrote`);
            document.hold(operation, answer);
            const { request_id: _, ...rest } = answer.body.error;
            bodies.add(JSON.stringify(rest));
          }
        }
        assert.equal(bodies.size, 1);
      },
    );

  test("each role gets what the document says on every route, and every route can succeed", async () => {
    const toRead = readers();
    for (const operation of document.operations.filter(({ scheme }) => scheme === "apiKey")) {
      const reached: number[] = [];
      for (const [role, key] of keys) {
        const f = await toRead(operation, key);
        const path = await pathOf(f, operation);
        const body = await f.body(operation);
        const from = await settledWrites();
        const answer = await call(operation, path, { authorization: `Bearer ${key}`, body });
        document.hold(operation, answer);
        const isBelow = role === "member" || (role === "admin" && operation.needsOwner);
        const mayRefuse = isBelow && operation.codes.get(403)?.includes("forbidden");
        const refused = answer.status === 403;
        const right = operation.needsManager
          ? refused === (mayRefuse === true)
          : mayRefuse || !refused;
        assert.ok(right, `${operation.id} as ${role}: ${answer.status}`);
        if (refused) assert.equal(writes(), from, `${operation.id} as ${role} wrote`);
        reached.push(answer.status);
      }
      assert.ok(reached.includes(operation.success), `${operation.id} answered ${reached}`);
    }
  });

  long(
    "AC-21.1: each operation that changes something leaves its rows in the audit, and no other one does",
    async () => {
      const owner = keys.get("owner") ?? "";
      const rows = (after: unknown) =>
        box.tenant.store
          .sql<[unknown], { verb: string; via: string }>("SELECT verb, via FROM audit WHERE id > ?")
          .all(after);
      const toRead = readers();
      for (const operation of document.operations) {
        if (
          operation.scheme !== "apiKey" &&
          operation.id !== "pair" &&
          operation.id !== "pairOnPage"
        )
          continue;
        const f = await toRead(operation, owner);
        const path = await pathOf(f, operation);
        const body = await f.body(operation);
        const last = box.tenant.store.sql("SELECT coalesce(max(id), 0) FROM audit").pluck().get();
        const answer = await call(operation, path, { authorization: `Bearer ${owner}`, body });
        const left = rows(last);
        const what = `${operation.id}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`;
        if (operation.method === "GET" || onlyTries.has(operation.id))
          assert.deepEqual(left, [], what);
        else {
          assert.equal(answer.status, operation.success, what);
          const via = operation.scheme === "apiKey" ? "key" : "pairing";
          assert.ok(left.length > 0, `no row of ${what}`);
          for (const row of left) assert.deepEqual(row, { verb: operation.id, via }, what);
        }
      }
    },
  );

  test("only an ingest token takes events in", async () => {
    const operation = document.operations.find(({ id }) => id === "ingest");
    assert.ok(operation);
    const body = { message: "x" };
    const { "ingest token": good = null, ...bad } = refusedBearers();
    for (const authorization of [...Object.values(bad), `Bearer ${keys.get("owner")}`]) {
      const answer = await call(operation, operation.path, { authorization, body });
      assert.equal(answer.status, 401, String(authorization));
      document.hold(operation, answer);
    }
    const answer = await call(operation, operation.path, { authorization: good, body });
    assert.equal(answer.status, 202);
    document.hold(operation, answer);
  });

  test("what is signed by a service is refused without its signature, as documented", async () => {
    const signed = document.operations.filter(({ scheme }) => scheme === "twilioSignature");
    assert.equal(signed.length, 3);
    for (const operation of signed) {
      const f = await fixture(box);
      const path = await pathOf(f, operation);
      const from = writes();
      const answer = await call(operation, path, {
        authorization: `Bearer ${keys.get("owner")}`,
        body: await f.body(operation),
      });
      assert.deepEqual([answer.status, writes()], [403, from], operation.id);
      document.hold(operation, answer);
    }
  });

  long("routes without a bearer answer as documented whatever bearer comes", async () => {
    for (const operation of document.operations.filter(({ scheme }) => scheme === null)) {
      const reached: number[] = [];
      for (const authorization of [null, "Bearer x", `Bearer ${keys.get("member")}`]) {
        const f = await fixture(box);
        const path = await pathOf(f, operation);
        const answer = await call(operation, path, {
          authorization,
          body: await f.body(operation),
        });
        document.hold(operation, answer);
        reached.push(answer.status);
      }
      assert.ok(reached.includes(operation.success), `${operation.id} answered ${reached}`);
    }
  });
});

describe("isolation", () => {
  test("nothing of one project is reached through another's name", async () => {
    const f = await fixture(box);
    const other = (await fixture(box)).project;
    await box.api("DELETE", `/v1/projects/${other}/sources/app`);
    for (const operation of document.operations) {
      if (!/^\/v1\/projects\/\{id\}\/.*\{/.test(operation.path)) continue;
      const path = await pathOf(f, operation, other);
      const body = await f.body(operation);
      const from = writes();
      const answer = await call(operation, path, {
        authorization: `Bearer ${keys.get("owner")}`,
        body,
      });
      assert.equal(
        answer.status,
        404,
        `${operation.method} ${path}: ${JSON.stringify(answer.body)}`,
      );
      assert.equal(writes(), from, `${operation.id} wrote`);
      document.hold(operation, answer);
    }
  });

  test("an absent project or thing is 404 on every route and is never made", async () => {
    const f = await fixture(box);
    for (const operation of document.operations) {
      if (!operation.path.includes("{") || operation.scheme !== "apiKey") continue;
      // What its address names is made by it.
      if (operation.id === "putHolidays") continue;
      const absent = /\{(aid|iid|wid|hid|sid|oid|rid|eid|code_id|account|key|session)\}/g;
      const path = operation.path
        .replaceAll(absent, "0123456789abcdef")
        .replaceAll("{id}", operation.path.startsWith("/v1/alerts") ? "999999" : "no such project")
        .replaceAll(/\{[^}]+\}/g, "1");
      const body = await f.body(operation);
      const from = writes();
      const answer = await call(operation, path, {
        authorization: `Bearer ${keys.get("owner")}`,
        body,
      });
      // It makes a project, but only where the version says that there is none yet.
      const status = operation.id === "putProjectConfig" ? 409 : 404;
      assert.equal(
        answer.status,
        status,
        `${operation.method} ${path}: ${JSON.stringify(answer.body)}`,
      );
      assert.equal(writes(), from, `${operation.id} wrote`);
      document.hold(operation, answer);
    }
  });
});

describe("after years", () => {
  test("no route and no job reads what grows from end to end", async () => {
    box.tenant.store.write((tx) => mergeKeys(tx, 1, { younger: "a", older: "b" }));
    await pass(box, 600, 60);
    const { db } = box.tenant.store;
    assert.ok(noted.of(db).size > 500, `${noted.of(db).size} statements`);
    assert.deepEqual(tooWide(db, noted), []);
  });

  test("what does is told", () => {
    const { db } = box.tenant.store;
    for (const text of [
      "SELECT min(id), max(id) FROM log_lines",
      "SELECT count(*) FROM alerts a WHERE a.project_id = ? AND a.state <> 'resolved'",
      "SELECT id FROM alerts WHERE project_id = ? AND template_id = ? AND state <> 'resolved' ORDER BY id",
    ])
      assert.equal(wideReads(db, text).length, 1, text);
    for (const text of [
      "SELECT (SELECT min(id) FROM log_lines), (SELECT max(id) FROM log_lines)",
      "SELECT id FROM alerts INDEXED BY alerts_standing WHERE project_id = ? AND state <> 'resolved'",
      "SELECT * FROM timeline WHERE alert_id = ?",
    ])
      assert.deepEqual(wideReads(db, text), [], text);
  });
});
