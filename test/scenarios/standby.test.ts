import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Health } from "../../src/tenant/health.ts";
import { run } from "../support/children.ts";
import { postgresTest } from "../support/postgres.ts";
import { programFile } from "../support/program.ts";
import { type Machine, SENDER, twoMachines } from "../support/two-machines.ts";
import { untilSo } from "../support/until.ts";
import { standbyStory } from "./standby.ts";

/** Two machines of one box: `node --test test/scenarios/standby.deep.ts` has every blow, many times. */

const FRESH = `SELECT is_fresh AS "isFresh" FROM nodes`;
/** When whoever leaves looked for a copy. */
const LOOKED = `SELECT query_start AS at FROM pg_stat_activity
  WHERE datname = current_database() AND query LIKE 'SELECT bool_or(is_fresh)%'`;

/** What a machine that stands by says to all who come to it. */
async function saysSo({ url, data }: Machine): Promise<void> {
  for (const [method, path] of [
    ["POST", "/v1/ingest"],
    ["GET", "/v1/alerts"],
    ["GET", "/console"],
    ["POST", "/v1/pair"],
  ] as const) {
    const answer = await fetch(url + path, { method });
    assert.equal(answer.status, 503, path);
    assert.equal(answer.headers.get("retry-after"), "2", path);
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    assert.equal(error.code, "not_ready", path);
    assert.match(error.message, /^This machine stands by, and machine \w+ serves the box/);
  }
  const ready = await fetch(`${url}/readyz`);
  assert.equal(ready.status, 200, await ready.text());
  const metrics = await (await fetch(`${url}/metrics`)).text();
  assert.match(metrics, /^box_role\{role="standby"\} 1$/m);
  assert.match(metrics, /^box_can_take 1$/m);
  const program = await programFile();
  const key = join(data, "another.key");
  writeFileSync(key, randomBytes(32));
  const added = await run(program, ["key-file", "add", key, "--data", data]);
  assert.equal(added.code, 0, added.err);
  const [, id] = /^added ([0-9a-f]{16})\nanother machine has/.exec(added.out) ?? [];
  assert.ok(existsSync(join(data, `box.key.${id}`)), added.out);
  const doctor = await run(program, ["doctor", "--data", data]);
  assert.match(doctor.out, /this machine stands by at http.*: \w+ serves the box/);
  assert.match(doctor.out, /this machine can take the box/);
  for (const words of ["status", "pair-code", `backup ${data}/x.db`]) {
    const { code, err } = await run(program, [...words.split(" "), "--data", data]);
    assert.notEqual(code, 0, words);
    assert.match(err, /This machine stands by\. Ask the one that serves the box/, words);
    if (words === "pair-code") assert.match(err, /It is \w{16}\./);
  }
}

type Senders = Pick<Machine, "host" | "syslogPort" | "smtpPort" | "api">;

/** What it does for whoever comes, where it knows the way to the machine that serves. */
async function sendsOn({ url, data, api, host, syslogPort, smtpPort }: Machine): Promise<void> {
  const { code, out, err } = await run(await programFile(), [
    "pair-code",
    "--data",
    data,
    "--json",
  ]);
  assert.equal(code, 0, err);
  assert.match(out, /"code": ?"[0-9a-f]{48}"/);
  const rotated = await run(await programFile(), ["key-file", "rotate", "--data", data]);
  assert.match(rotated.err, /Another machine stands by, and couldn't take the box over/);
  const asks = { authorization: `Bearer ${api.key}`, connection: "close" };
  for (const path of ["/v1/alerts", "/v1/projects", "/v1/openapi.json"]) {
    const answer = await fetch(url + path, { headers: asks });
    assert.equal(answer.status, 200, `${path}: ${await answer.text()}`);
  }
  const unknown = await fetch(`${url}/v1/alerts`, { headers: { connection: "close" } });
  assert.equal(unknown.status, 401, await unknown.text());
  const alone = { headers: { connection: "close" } };
  assert.equal((await fetch(`${url}/v1/role`, alone)).status, 503);
  const ready = (await (await fetch(`${url}/readyz`, alone)).json()) as Health;
  assert.deepEqual(
    ready.checks.filter(({ name }) => name === "link"),
    [
      {
        name: "link",
        severity: "degraded",
        ok: true,
        detail: "what comes here is sent on to the machine that serves",
      },
    ],
  );
  const metrics = await (await fetch(`${url}/metrics`, alone)).text();
  assert.match(metrics, /^box_forwarded_connections_total [4-9]$/m);
  assert.match(metrics, /^box_held_connections 0$/m);
  await sendsOnSenders({ host, syslogPort, smtpPort, api });
}

/** A sender of syslog is known by its own address, and a mail server is greeted. */
async function sendsOnSenders({ host, syslogPort, smtpPort, api }: Senders): Promise<void> {
  const sender = connect({ host, port: syslogPort, localAddress: SENDER });
  sender.end("<11>1 - db7 kernel - - - disk full\n");
  await untilSo(
    async () => JSON.stringify(await api.need("GET", "/v1/alerts")).includes("disk full"),
    "the syslog sender's alert is open",
  );
  const mail = connect({ host, port: smtpPort });
  const [greeting] = (await once(mail, "data")) as [Buffer];
  assert.match(String(greeting), /^220 /);
  mail.end("QUIT\r\n");
  assert.match(await text(mail), /^221 /);
}

postgresTest(
  "a machine that stands by takes the box when its owner leaves, and when it stands still",
  async (t) => void (await standbyStory(t, ["SIGTERM", "SIGSTOP"], { look: saysSo })),
);

postgresTest(
  "whoever knows only the machine that stands by is served by it, whatever befalls the other one",
  async (t) => void (await standbyStory(t, ["SIGKILL"], { isLinked: true, look: sendsOn })),
);

postgresTest(
  "whoever is told to stop serves until another machine has the whole store",
  async (t) => {
    const { one, two, ask, ledger } = await twoMachines(t);
    const says = async () => (await ask<{ isFresh: boolean }>(FRESH))[0]?.isFresh;
    await untilSo(
      async () => (await says()) === true,
      "the second machine has a copy, and says so",
    );
    await two.stop();
    await ask(
      `INSERT INTO nodes (id, run, version, store_schema, alive_until, is_fresh)
     VALUES ('three', 'three', '1', 1, clock_timestamp() + interval '10 min', false)`,
    );
    for (const end of ["the copy is whole", "a second signal"]) {
      // One that is alone on a busy machine waits for nobody.
      await untilSo(async () => (await one.role())?.role === "owner", "it isn't alone");
      const ended = one.stop();
      let isOver = false;
      void ended.then(() => {
        isOver = true;
      });
      const looks = new Set<number>();
      await untilSo(async () => {
        for (const { at } of await ask<{ at: Date }>(LOOKED)) looks.add(at.getTime());
        return looks.size > 1;
      }, `it has looked for a copy, and again, until ${end}`);
      assert.ok(await ledger.send(one, end), "it serves");
      assert.equal((await one.role())?.role, "owner");
      assert.equal(isOver, false);
      if (end === "a second signal") void one.stop();
      else await ask("UPDATE nodes SET is_fresh = true");
      assert.equal((await ended).code, 0);
      assert.deepEqual(await ask("SELECT clean FROM tenant_stores"), [{ clean: true }]);
      await ask("UPDATE nodes SET is_fresh = false");
      await one.start();
    }
  },
);
