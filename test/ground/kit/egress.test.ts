import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import type { LookupAddress } from "node:dns";
import { after, afterEach, beforeEach, test } from "node:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { type AddressRules, parseCidr } from "../../../src/ground/kit/addresses.ts";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import {
  createEgress,
  type EgressClient,
  type EgressOptions,
} from "../../../src/ground/kit/egress.ts";
import { egressErrorOf, egressErrors } from "../../../src/ground/kit/egress-error.ts";
import type { EgressResult } from "../../../src/ground/kit/exchange.ts";
import { createNames, type Resolve } from "../../../src/ground/kit/names.ts";
import { handClock } from "../../support/clock.ts";
import fc, { anyCharacter } from "../../support/property.ts";
import * as receivers from "../../support/receiver.ts";

const { answer, startReceiver } = receivers;

/** Real time that is enough for a connection and its first bytes on a busy machine. */
const AMPLE_MS = 1500;

const clients: EgressClient[] = [];
function egress({
  resolve,
  clock = systemClock,
  ...options
}: Partial<EgressOptions> & { resolve?: Resolve } = {}): EgressClient {
  const names = createNames({ clock, ...(resolve && { resolve }) });
  const client = createEgress({ clock, rules: { role: "box" }, names, ...options });
  clients.push(client);
  return client;
}

let receiver: receivers.Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await receiver.close();
});

/** The outcome without its measured time. */
function shown(result: EgressResult): [string | null, number | null, boolean] {
  return [result.error, result.status, result.sent];
}

function at(address: string): LookupAddress {
  return { address, family: address.includes(":") ? 6 : 4 };
}

test("sends what it is given and hands back the answer", async () => {
  receiver.always(answer(201, "made", { "X-Made": "yes", "set-cookie": "a=1" }));
  const result = await egress({ userAgent: "box/1" }).send({
    method: "PUT",
    url: `${receiver.url}/a%20b?c=d#never-sent`,
    headers: { "content-type": "text/plain" },
    body: "žluť",
  });
  assert.deepEqual(shown(result), [null, 201, true]);
  assert.equal(result.body, "made");
  assert.equal(result.truncated, false);
  assert.equal(result.headers["x-made"], "yes");
  const request = receiver.received[0];
  assert.equal(request?.method, "PUT");
  assert.equal(request?.path, "/a%20b?c=d");
  assert.equal(request?.body, "žluť");
  assert.equal(request?.headers["content-type"], "text/plain");
  assert.equal(request?.headers["accept-encoding"], "identity");
  assert.equal(request?.headers["user-agent"], "box/1");
});

test("a given header beats the default of any case", async () => {
  const headers = { "User-Agent": "mine", "ACCEPT-ENCODING": "br" };
  await egress().send({ method: "GET", url: receiver.url, headers });
  assert.equal(receiver.received[0]?.headers["user-agent"], "mine");
  assert.equal(receiver.received[0]?.headers["accept-encoding"], "br");
});

test("a request names its host, and its length wherever it may have a body", async () => {
  const client = egress();
  const lengths = { GET: undefined, delete: undefined, POST: "0", PATCH: "0" };
  for (const [method, length] of Object.entries(lengths)) {
    const { error } = await client.send({ method, url: receiver.url });
    const { headers } = receiver.received.at(-1) ?? {};
    assert.deepEqual(
      [error, headers?.["content-length"], headers?.["transfer-encoding"], headers?.["host"]],
      [null, length, undefined, new URL(receiver.url).host],
    );
  }
  for (const [body, length] of [
    ["é", "2"],
    [Buffer.from("abc"), "3"],
  ] as const) {
    await client.send({ method: "DELETE", url: receiver.url, body });
    assert.equal(receiver.received.at(-1)?.headers["content-length"], length);
  }
});

test("a redirect is an answer like any other", async () => {
  for (const target of [receiver.url, "http://169.254.169.254/latest/meta-data/"]) {
    receiver.always(receivers.redirect(target));
    assert.equal((await egress().send({ method: "POST", url: receiver.url })).status, 302);
  }
  assert.equal(receiver.received.length, 2);
});

test("nothing is decompressed", async () => {
  const packed = gzipSync("x".repeat(10_000));
  receiver.always((response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(packed);
  });
  const result = await egress().send({ method: "GET", url: receiver.url });
  assert.equal(result.body, new TextDecoder().decode(packed));
});

test("a body is read to the limit and the rest is dropped with its connection", async () => {
  const client = egress();
  receiver.once(
    receivers.flood(),
    answer(200, "x".repeat(4_096)),
    answer(200, `a${"é".repeat(9)}`),
  );
  const flooded = await client.send({ method: "GET", url: receiver.url });
  assert.deepEqual([flooded.error, flooded.body.length, flooded.truncated], [null, 4_096, true]);
  const exact = await client.send({ method: "GET", url: receiver.url });
  assert.deepEqual([exact.body.length, exact.truncated], [4_096, false]);
  const split = await client.send({ method: "GET", url: receiver.url, maxBytes: 6 });
  assert.equal(split.body, "aéé");
});

test("no answer in time is a time-out that may have run", async () => {
  const clock = handClock();
  receiver.always(receivers.hang);
  const sending = egress({ clock }).send({ method: "POST", url: receiver.url });
  await receiver.next();
  await clock.turn(9_999);
  assert.equal(clock.timers(), 1);
  await clock.turn(1);
  const result = await sending;
  assert.deepEqual(shown(result), ["timeout", null, true]);
  assert.equal(result.durationMs, 10_000);
  assert.equal(clock.timers(), 0);
});

test("an answer that doesn't end in time is told with its status", async () => {
  for (const behaviour of [receivers.hangInBody(202), receivers.drip(20, 202)]) {
    receiver.always(behaviour);
    const result = await egress().send({ method: "POST", url: receiver.url, timeoutMs: AMPLE_MS });
    assert.deepEqual(shown(result), ["body_too_slow", 202, true]);
    assert.match(result.body, /^x+$/);
  }
});

test("an attempt that is given up leaves no connection", { timeout: 60_000 }, async () => {
  for (const behaviour of [receivers.hang, receivers.hangInBody(), receivers.flood()]) {
    receiver.always(behaviour);
    await egress().send({ method: "POST", url: receiver.url, timeoutMs: 100 });
    await receiver.drained();
  }
});

test("a request whose time ran out before its turn is never sent", async () => {
  const client = egress({ connections: 1 });
  receiver.once(receivers.hang);
  const first = client.send({ method: "GET", url: `${receiver.url}/first`, timeoutMs: AMPLE_MS });
  await receiver.next();
  const late = await client.send({ method: "GET", url: `${receiver.url}/late`, timeoutMs: 50 });
  assert.deepEqual(shown(late), ["busy", null, false]);
  assert.equal((await first).error, "timeout");
  assert.equal((await client.send({ method: "GET", url: `${receiver.url}/next` })).status, 204);
  assert.deepEqual(
    receiver.received.map(({ path }) => path),
    ["/first", "/next"],
  );
});

test("a broken connection is reset or closed", async () => {
  const rows: [receivers.Behaviour, string, number | null][] = [
    [receivers.reset, "reset", null],
    [receivers.hangUp, "closed", null],
    [receivers.resetInBody(200), "reset", 200],
  ];
  for (const [behaviour, error, status] of rows) {
    receiver.always(behaviour);
    const result = await egress().send({ method: "POST", url: receiver.url });
    assert.deepEqual(shown(result), [error, status, true]);
  }
});

test("an origin that failed many times is called again as soon as it is back", async () => {
  const client = egress({ connections: 2 });
  const gone = await startReceiver();
  await gone.close();
  const request = { method: "POST", url: gone.url, body: "{}" };
  for (let i = 0; i < 10; i++) assert.equal((await client.send(request)).error, "refused");
  const unsendable = { ...request, headers: { "a b": "c" } };
  for (let i = 0; i < 10; i++) assert.equal((await client.send(unsendable)).error, "bad_request");
  const back = await startReceiver({ port: gone.port });
  after(() => back.close());
  for (const bad of [receivers.reset, receivers.hangUp, receivers.raw("x"), receivers.flood()]) {
    back.once(bad, bad, bad);
  }
  for (let i = 0; i < 12; i++) await client.send(request);
  assert.equal((await client.send(request)).status, 204);
});

test("what is no HTTP is a bad response", async () => {
  const answers = [
    "hello\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    `HTTP/1.1 200 OK\r\n${"X-A: b\r\n".repeat(5_000)}\r\n`,
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
  ];
  for (const bytes of answers) {
    receiver.always(receivers.raw(bytes));
    const result = await egress().send({ method: "POST", url: receiver.url });
    assert.equal(result.error, "bad_response", bytes.slice(0, 40));
  }
});

test("informational answers are passed over", async () => {
  const early = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n".repeat(20);
  receiver.always(receivers.raw(`${early}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`));
  const result = await egress().send({ method: "GET", url: receiver.url });
  assert.deepEqual([result.status, result.body, result.headers["link"]], [200, "ok", undefined]);
});

test("nobody there is refused, no name is dns, a silent name is a connect time-out", async () => {
  const gone = await startReceiver();
  await gone.close();
  const refused = await egress().send({ method: "GET", url: gone.url });
  assert.deepEqual(shown(refused), ["refused", null, false]);

  const named = { method: "GET", url: "http://receiver.test/" };
  const failing = egress({ resolve: () => Promise.reject(new Error("EAI_AGAIN")) });
  assert.deepEqual(shown(await failing.send(named)), ["dns", null, false]);
  const empty = egress({ resolve: () => Promise.resolve([]) });
  assert.deepEqual(shown(await empty.send(named)), ["dns", null, false]);

  const silent = () => new Promise<LookupAddress[]>(() => {});
  const hung = egress({ resolve: silent, connectMs: 50 });
  assert.deepEqual(shown(await hung.send(named)), ["timeout_connect", null, false]);
  const clock = handClock();
  const sending = egress({ resolve: silent, clock }).send({ ...named, timeoutMs: 3_000 });
  await clock.turn(3_000);
  assert.deepEqual(shown(await sending), ["timeout_connect", null, false]);
});

test("a call whose time goes by in the queue of lookups is busy, and nothing is said of the name", async () => {
  const silent = () => new Promise<LookupAddress[]>(() => {});
  const names = createNames({ clock: systemClock, resolve: silent, places: 2 });
  const client = egress({ names, connectMs: 50 });
  const send = (name: string) => client.send({ method: "GET", url: `http://${name}.test/` });
  const [first, second] = await Promise.all([send("first"), send("second")]);
  assert.deepEqual(shown(first), ["timeout_connect", null, false]);
  assert.deepEqual(shown(second), ["busy", null, false]);
});

test("each TLS fault has its name and nothing is sent", async () => {
  const ca = [receivers.pem("authority")];
  const rows: [receivers.CertificateName, readonly string[], string][] = [
    ["self-signed", ca, "tls: self_signed"],
    ["expired", ca, "tls: expired"],
    ["wrong-name", ca, "tls: wrong_name"],
    ["good", [], "tls: untrusted"],
  ];
  for (const [tls, trusted, error] of rows) {
    const secure = await startReceiver({ tls });
    after(() => secure.close());
    const result = await egress({ ca: trusted }).send({ method: "POST", url: secure.url });
    assert.deepEqual(shown(result), [error, null, false], tls);
    assert.equal(secure.received.length, 0);
  }
  const plain = await egress().send({ method: "POST", url: receiver.url.replace("http", "https") });
  assert.deepEqual(shown(plain), ["tls: handshake", null, false]);
});

test("a certificate of a trusted authority is accepted, by address and by name", async () => {
  const secure = await startReceiver({ tls: "good" });
  after(() => secure.close());
  const client = egress({
    ca: [receivers.pem("authority")],
    resolve: async () => [at("127.0.0.1")],
  });
  for (const host of ["127.0.0.1", "localhost"]) {
    const result = await client.send({ method: "GET", url: `https://${host}:${secure.port}/` });
    assert.deepEqual(shown(result), [null, 204, true], host);
  }
});

test("a refused address is never connected to, by literal or by name", async () => {
  const hosted: AddressRules = { role: "hosted" };
  const literal = await egress({ rules: hosted }).send({ method: "GET", url: receiver.url });
  assert.deepEqual(shown(literal), ["address_refused", null, false]);

  const named = { method: "GET", url: `http://receiver.test:${receiver.port}/` };
  const byName = egress({ rules: hosted, resolve: async () => [at("127.0.0.1"), at("::1")] });
  assert.deepEqual(shown(await byName.send(named)), ["address_refused", null, false]);
  const metadata = egress({ resolve: async () => [at("169.254.169.254")] });
  assert.deepEqual(shown(await metadata.send(named)), ["address_refused", null, false]);
  assert.equal(receiver.connections, 0);

  const both = egress({ resolve: async () => [at("169.254.169.254"), at("127.0.0.1")] });
  assert.deepEqual(shown(await both.send(named)), [null, 204, true]);
});

test("a name that answers anew is judged anew", async () => {
  const answers = [[at("127.0.0.1")], [at("169.254.169.254")]];
  const client = egress({ resolve: async () => answers.shift() ?? [] });
  receiver.always(answer(200, "", { connection: "close" }));
  const named = { method: "GET", url: `http://receiver.test:${receiver.port}/` };
  assert.deepEqual(shown(await client.send(named)), [null, 200, true]);
  assert.deepEqual(shown(await client.send(named)), ["address_refused", null, false]);
});

test("the connected socket has the last word", async () => {
  let reads = 0;
  // An address that reads differently after it was vetted: only the socket tells.
  const shifty: LookupAddress = {
    family: 4,
    get address() {
      return reads++ === 0 ? "93.184.215.14" : "127.0.0.1";
    },
  };
  const client = egress({ rules: { role: "hosted" }, resolve: async () => [shifty] });
  const result = await client.send({
    method: "GET",
    url: `http://receiver.test:${receiver.port}/`,
  });
  assert.deepEqual(shown(result), ["address_refused", null, false]);
  assert.equal(receiver.connections, 1);
  assert.equal(receiver.received.length, 0);
});

test("public https alone: neither http nor the allow list counts", async () => {
  const everything = parseCidr("0.0.0.0/0") ?? assert.fail();
  const rules: AddressRules = { role: "box", allow: [everything] };
  const client = egress({ rules, publicHttpsOnly: true });
  const plain = await client.send({ method: "GET", url: "http://93.184.215.14/" });
  assert.equal(plain.error, "https_required");
  const local = await client.send({ method: "GET", url: `https://127.0.0.1:${receiver.port}/` });
  assert.equal(local.error, "address_refused");
  assert.equal(receiver.connections, 0);
});

test("connections are kept, and bounded for an origin", async () => {
  const client = egress({ connections: 2 });
  for (let i = 0; i < 5; i++) await client.send({ method: "POST", url: receiver.url, body: "{}" });
  assert.ok(receiver.connections <= 2);

  receiver.always(receivers.hang);
  const stop = new AbortController();
  const request = { method: "GET", url: receiver.url, signal: stop.signal };
  const held = [client.send(request), client.send(request)];
  // The first ones went one after the other.
  while (receiver.received.length < 7) await receiver.next();
  const more = Array.from({ length: 6 }, () => client.send({ ...request, timeoutMs: 50 }));
  for (const result of await Promise.all(more))
    assert.deepEqual(shown(result), ["busy", null, false]);
  assert.equal(receiver.received.length, 7);
  stop.abort();
  for (const result of await Promise.all(held)) assert.equal(result.error, "stopped");
});

test("a hanging origin doesn't delay another", async () => {
  const other = await startReceiver();
  after(() => other.close());
  receiver.always(receivers.hang);
  const client = egress();
  const stop = new AbortController();
  const request = { method: "GET", url: receiver.url, signal: stop.signal };
  const hung = Array.from({ length: 20 }, () => client.send(request));
  await receiver.next();
  assert.equal((await client.send({ method: "GET", url: other.url })).status, 204);
  stop.abort();
  for (const result of await Promise.all(hung)) assert.equal(result.error, "stopped");
});

test("pools are bounded: the idle longest unused goes, and none idle is busy", async () => {
  const client = egress({ maxOrigins: 2, resolve: async () => [at("127.0.0.1")] });
  const named = (name: string) => ({ method: "GET", url: `http://${name}.test:${receiver.port}/` });
  for (const name of ["a", "b", "c", "d"]) {
    assert.equal((await client.send(named(name))).error, null);
  }
  assert.equal(client.origins(), 2);

  receiver.always(receivers.hang);
  const first = client.send(named("c"));
  const second = client.send(named("d"));
  assert.deepEqual(shown(await client.send(named("e"))), ["busy", null, false]);
  await client.close();
  assert.deepEqual([(await first).error, (await second).error], ["stopped", "stopped"]);
  assert.equal((await client.send(named("c"))).error, "stopped");
});

test("a share has pools of its own, and ends alone or with the whole", async () => {
  const client = egress({ maxOrigins: 1 });
  const shares = [client.share(), client.share()] as const;
  receiver.always(receivers.hang);
  const request = { method: "GET", url: receiver.url };
  const hung = [client, ...shares].map((each) => each.send(request));
  for (let i = 0; i < 3; i++) await receiver.next();
  await shares[0].close();
  assert.equal((await hung[1])?.error, "stopped");
  assert.equal((await shares[0].send(request)).error, "stopped");
  receiver.always(answer(204));
  assert.equal((await shares[1].send(request)).status, 204);
  await client.close();
  assert.deepEqual([(await hung[0])?.error, (await hung[2])?.error], ["stopped", "stopped"]);
  assert.equal((await shares[1].send(request)).error, "stopped");
});

test("lookups of one name under way are joined, later ones ask again", async () => {
  let asked = 0;
  const client = egress({
    resolve: async () => {
      asked++;
      return [at("127.0.0.1")];
    },
  });
  receiver.always(answer(200, "", { connection: "close" }));
  const named = { method: "GET", url: `http://receiver.test:${receiver.port}/` };
  await Promise.all([client.send(named), client.send(named), client.send(named)]);
  assert.equal(asked, 1);
  await client.send(named);
  assert.equal(asked, 2);
});

test("proxy variables have no say", async () => {
  const proxy = await startReceiver();
  after(() => proxy.close());
  const script = `
    import { createEgress } from "./src/ground/kit/egress.ts";
    import { systemClock } from "./src/ground/kit/clock.ts";
    const client = createEgress({ clock: systemClock, rules: { role: "box" } });
    console.log((await client.send({ method: "GET", url: process.argv[1] })).status);
    await client.close();`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module-typescript", "-e", script, receiver.url],
    {
      env: {
        ...process.env,
        NODE_USE_ENV_PROXY: "1",
        HTTP_PROXY: proxy.url,
        http_proxy: proxy.url,
      },
    },
  );
  assert.equal(stdout.trim(), "204");
  assert.equal(proxy.connections, 0);
});

test("no request makes it throw", async () => {
  const client = egress({ resolve: async () => [] });
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom("a\r\nb", "", "Host", "GET"),
  );
  await fc.assert(
    fc.asyncProperty(text, text, text, text, async (method, url, name, value) => {
      const headers = { [name]: value };
      for (const target of [url, `http://x.test/${encodeURIComponent(value.toWellFormed())}`]) {
        const result = await client.send({ method, url: target, headers });
        assert.ok(result.error !== null && egressErrors.includes(result.error));
      }
    }),
  );
  const injected = { method: "GET", url: receiver.url, headers: { a: "b\r\nc: d" } };
  assert.deepEqual(shown(await client.send(injected)), ["bad_request", null, false]);
});

test("whatever is reported has a class", () => {
  const coded = (code: string) => Object.assign(new Error(code), { code });
  assert.equal(egressErrorOf(coded("EHOSTUNREACH")), "unreachable");
  assert.equal(egressErrorOf(coded("CERT_NOT_YET_VALID")), "tls: not_yet_valid");
  assert.equal(egressErrorOf(new AggregateError([new Error(), coded("ECONNREFUSED")])), "refused");
  for (const odd of [null, undefined, "text", {}, { code: 5 }, new Error("secret")]) {
    assert.equal(egressErrorOf(odd), "network");
  }
});
