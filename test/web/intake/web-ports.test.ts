import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import { boxConfig } from "../../../src/app/config.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { linesOf } from "../../support/kept-lines.ts";

/** Ports of one kind of sender: `--otlp` and `--es`, with a token or bound to a source. */
let box: TestBox;
const tokens: Record<string, string> = {};
/** Addresses: OTLP without and with a source, bulk without and with one, and one whose source is of another kind. */
let at: { otlp: string; otlpBound: string; es: string; esBound: string; wrong: string };
before(async () => {
  const any = "127.0.0.1:0";
  box = await testBox({
    otlp: [any, `${any}=p/otlp`],
    es: [any, `${any}=p/elasticsearch`, `${any}=p/otlp`],
    allowFrom: ["192.0.2.0/24"],
    trustedProxy: ["127.0.0.1/32"],
  });
  await box.api("POST", "/v1/projects", { name: "p" });
  for (const kind of ["otlp", "elasticsearch"]) {
    const source = { name: kind, kind, retain_logs: true };
    tokens[kind] = (await box.api("POST", "/v1/projects/p/sources", source)).body.token;
  }
  const [otlp = "", otlpBound = "", es = "", esBound = "", wrong = ""] = box.ports.map(
    ({ host, port }) => `http://${host}:${port}`,
  );
  at = { otlp, otlpBound, es, esBound, wrong };
});
after(() => box.stop());

const lines = () => linesOf(box.tenant.store);

async function emit(base: string, message: string, headers: Record<string, string> = {}) {
  const exporter = new OTLPLogExporter({ url: `${base}/v1/logs`, headers });
  const provider = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] });
  provider.getLogger("shop").emit({ severityNumber: 17, body: message });
  await provider.forceFlush();
  await provider.shutdown();
}

/** A bulk request, as shippers send it; status and body. */
async function bulk(base: string, message: string, headers: Record<string, string> = {}) {
  const body = `{"index":{"_index":"logs"}}\n${JSON.stringify({ message, "log.level": "error" })}\n`;
  const answer = await fetch(`${base}/_bulk`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson", ...headers },
    body,
  });
  return { status: answer.status, body: await answer.text() };
}

const basic = (user: string, password = "") => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});

test("OpenTelemetry's exporter needs nothing but the port's address, with a token or bound", async () => {
  await emit(at.otlpBound, "bound");
  await emit(at.otlp, "by its token", { authorization: `Bearer ${tokens["otlp"]}` });
  await emit(at.otlpBound, "bound, by its token", { authorization: `Bearer ${tokens["otlp"]}` });
  await emit(at.otlp, "nobody's");
  assert.deepEqual(lines(), ["400 bound", "400 by its token", "400 bound, by its token"]);
});

test("shippers find an Elasticsearch at the root of its port", async () => {
  const root = await fetch(at.es, {
    headers: { authorization: `Bearer ${tokens["elasticsearch"]}` },
  });
  assert.equal(root.headers.get("x-elastic-product"), "Elasticsearch");
  assert.match(await root.text(), /"number":"8\./);
  const before = lines().length;
  const { status, body } = await bulk(at.esBound, "disk full");
  assert.deepEqual([status, JSON.parse(body).errors], [200, false]);
  // As a shipper that was set up for a real one: its password there is no token.
  const password = basic("elastic", "changeme");
  assert.equal((await bulk(at.esBound, "with a password", password)).status, 200);
  const token = basic("box", tokens["elasticsearch"] ?? "");
  assert.equal((await bulk(at.es, "with a token", token)).status, 200);
  assert.deepEqual(lines().slice(before), [
    "400 disk full",
    "400 with a password",
    "400 with a token",
  ]);
});

test("what a port isn't for is refused there", async () => {
  const before = lines().length;
  assert.equal((await bulk(at.es, "no token")).status, 401);
  const wrong = `pti_${box.tenant.id}_${"x".repeat(43)}`;
  assert.equal((await bulk(at.esBound, "wrong", { authorization: `Bearer ${wrong}` })).status, 401);
  assert.equal((await bulk(at.wrong, "its source is no bulk source")).status, 401);
  const from = { "x-forwarded-for": "198.51.100.7" };
  assert.equal((await bulk(at.esBound, "from elsewhere", from)).status, 403);
  const key = { authorization: `Bearer ${box.owner.key}` };
  for (const path of ["/v1/alerts", "/healthz", "/v1/in/alertmanager", "/ping/x", "/metrics"]) {
    const answer = await fetch(at.otlp + path, { headers: key });
    assert.equal(answer.status, 401, path);
  }
  assert.equal(lines().length, before);
  const seen = await bulk(at.esBound, "from the network", {
    "x-forwarded-for": "192.0.2.9",
  });
  assert.equal(seen.status, 200);
});

test("a port that asks for no secret and that others reach needs --allow-from", () => {
  const fault = (flags: object) => {
    try {
      boxConfig(flags);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.match(fault({ otlp: ["0.0.0.0:4318=p/s"] }), /--otlp .*--allow-from CIDR/);
  assert.match(fault({ es: ["0.0.0.0:9200=p"] }), /--es takes HOST:PORT=PROJECT\/SOURCE/);
  assert.match(fault({ es: ["here"] }), /--es must be HOST:PORT/);
  assert.equal(fault({ otlp: ["0.0.0.0:4318"] }), "");
  assert.equal(fault({ es: ["0.0.0.0:9200=p/s"], allowFrom: ["10.0.0.0/8"] }), "");
});
