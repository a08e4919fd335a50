import assert from "node:assert/strict";
import test from "node:test";
import {
  type DatabaseUrl,
  readDatabaseUrl,
  shownDatabaseUrl,
} from "../../../src/hosted/registry/postgres/database-url.ts";
import fc from "../../support/property.ts";

const read = (text: string, ca = false): DatabaseUrl => {
  const url = readDatabaseUrl(text, { ca });
  if (typeof url === "string") throw new Error(url);
  return url;
};

test("several hosts, sockets and addresses are read, each with its port", () => {
  const url = read("postgresql://box:s%3Acret@db1.example:6432,[fd00::1],10.0.0.7:5433/pager");
  assert.deepEqual(url, {
    hosts: [
      { host: "db1.example", port: 6432, isSocket: false },
      { host: "fd00::1", port: 5432, isSocket: false },
      { host: "10.0.0.7", port: 5433, isSocket: false },
    ],
    user: "box",
    password: "s:cret",
    database: "pager",
    tls: "offered",
  });
  const socket = { host: "/run/postgresql", port: 5432, isSocket: true };
  for (const text of [
    "postgres://box@%2Frun%2Fpostgresql/pager",
    "postgres://box@/pager?host=/run/postgresql",
  ])
    assert.deepEqual(read(text), {
      hosts: [socket],
      user: "box",
      password: undefined,
      database: "pager",
      tls: "off",
    });
});

test("TLS: as the URL says, always with an authority, and on this machine only where asked for", () => {
  const tls = (text: string, ca = false) => read(text, ca).tls;
  assert.equal(tls("postgres://b@127.0.0.1/d"), "off");
  assert.equal(tls("postgres://b@[::1],localhost:99/d"), "off");
  assert.equal(tls("postgres://b@localhost,db.example/d"), "offered");
  assert.equal(tls("postgres://b@db.example/d", true), "verified");
  assert.equal(tls("postgres://b@localhost/d", true), "verified");
  assert.equal(tls("postgres://b@db.example/d?sslmode=disable"), "off");
  assert.equal(tls("postgres://b@db.example/d?sslmode=require"), "verified");
  assert.equal(tls("postgres://b@db.example/d?sslmode=no-verify"), "unverified");
  assert.equal(
    typeof readDatabaseUrl("postgres://b@d.example/d?sslmode=disable", { ca: true }),
    "string",
  );
});

test("the message for an invalid database URL contains no part of it", () => {
  for (const text of [
    "mysql://box:hunter2@db/pager",
    "postgres://db/pager?password=hunter2",
    "postgres://box:hunter2@/pager",
    "postgres://box:hunter2@db",
    "postgres://:hunter2@db/pager",
    "postgres://box:hunter2%zz@db/pager",
    "postgres://box:hunter2@db:99999/pager",
    "postgres://box:hunter2@db,/pager",
    "postgres://box:hunter2@db/pager?sslmode=maybe",
    "postgres://box:hunter2@db/pager?sslmode=constructor",
    "postgres://box:hunter2@db/pager?sslmode=disable&sslmode=verify-full",
    "postgres://box:hunter2@db/pager?options=-c%20x",
    "hunter2",
  ]) {
    const told = readDatabaseUrl(text);
    assert.equal(typeof told, "string", text);
    assert.ok(!String(told).includes("hunter2"), text);
  }
});

test("the shown database URL leads to the same place, without the password", () => {
  const name = fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" });
  const host = fc.constantFrom("db.example", "10.0.0.1", "[fd00::2]", "%2Frun%2Fpg", "db:6432");
  fc.assert(
    fc.property(
      name,
      name,
      name,
      fc.array(host, { minLength: 1, maxLength: 3 }),
      (user, secret, base, hosts) => {
        const password = `PASS${secret}`;
        const text = `postgres://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${hosts.join(",")}/${encodeURIComponent(base)}`;
        const url = read(text);
        assert.deepEqual([url.user, url.password, url.database], [user, password, base]);
        const shown = shownDatabaseUrl(url);
        assert.ok(!shown.includes("PASS"));
        assert.deepEqual(read(shown), { ...url, password: undefined });
      },
    ),
    { numRuns: 200 },
  );
});
