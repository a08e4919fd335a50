import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { OTLPLogExporter as JsonExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPLogExporter as ProtobufExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import pino from "pino";
import { pinoLoki } from "pino-loki";
import LokiTransport from "winston-loki";
import { type TestBox, testBox } from "../support/box.ts";
import { linesOf } from "../support/kept-lines.ts";
import { until } from "../support/until.ts";

let box: TestBox;
const tokens: Record<string, string> = {};
before(async () => {
  box = await testBox({ adaptersListen: "127.0.0.1:0" });
  await box.api("POST", "/v1/projects", { name: "p" });
  await box.api("POST", "/v1/projects/p/rules", { name: "any" });
  for (const kind of ["otlp", "loki"]) {
    const source = { name: kind, kind, retain_logs: true };
    const made = (await box.api("POST", "/v1/projects/p/sources", source)).body;
    tokens[kind] = String(made.token);
  }
});
after(() => box.stop());

/** The lines that came, as `level message`. */
function lines(): string[] {
  return linesOf(box.tenant.store);
}

/** It is an alert of its own, by what its sender calls it and with this value of a label. */
async function alertOf(title: string, value: string): Promise<void> {
  const { alerts } = (await box.api("GET", "/v1/alerts")).body;
  const found = alerts.filter((one: { title: string }) => one.title === title);
  assert.equal(found.length, 1, title);
  assert.ok(Object.values(found[0].labels).includes(value), JSON.stringify(found[0].labels));
}

const comes = (line: string) => until(() => lines().includes(line), line);

test("OpenTelemetry's exporters, in JSON and in protobuf, compressed too", async () => {
  const url = `${box.url}/v1/in/otlp/v1/logs`;
  const headers = { authorization: `Bearer ${tokens["otlp"]}` };
  const exporters = {
    json: new JsonExporter({ url, headers }),
    protobuf: new ProtobufExporter({ url: `${box.url}/v1/in/otlp/${tokens["otlp"]}/v1/logs` }),
    fixed: new ProtobufExporter({ url: `${box.adaptersUrl}/v1/logs`, headers }),
    zipped: new ProtobufExporter({ url, headers, compression: "gzip" as never }),
  };
  for (const [name, exporter] of Object.entries(exporters)) {
    const provider = new LoggerProvider({
      processors: [new SimpleLogRecordProcessor({ exporter })],
    });
    provider.getLogger("checkout").emit({
      severityNumber: 17,
      severityText: "ERROR",
      body: `payment by ${name} failed`,
      attributes: { "order.id": 8812 },
    });
    await provider.forceFlush();
    await provider.shutdown();
    assert.ok(lines().includes(`400 payment by ${name} failed`), name);
    await alertOf(`payment by ${name} failed`, "8812");
  }
});

test("pino-loki and winston-loki, in JSON and in protobuf", async () => {
  const host = box.url;
  const endpoint = `v1/in/loki/${tokens["loki"]}`;
  const stream = pinoLoki({ host, endpoint, batching: false, labels: { app: "shop" } });
  const log = pino({ level: "debug" }, stream);
  log.error({ orderId: 17 }, "by pino");
  await comes("400 by pino");
  await alertOf("by pino", "shop");
  stream.destroy();
  const headers = { authorization: `Bearer ${tokens["loki"]}` };
  const fixed = pinoLoki({ host: box.adaptersUrl, headers, batching: false });
  pino(fixed).warn("by pino, to Loki's own address");
  await comes("300 by pino, to Loki's own address");
  fixed.destroy();
  for (const json of [true, false]) {
    const transport = new LokiTransport({
      host: `${host}/${endpoint}`,
      json,
      batching: false,
      labels: { job: "shop" },
    });
    const message = `by winston, ${json ? "json" : "protobuf"}`;
    // As winston's logger calls it.
    transport.log?.({ level: "warn", message, [Symbol.for("level")]: "warn" }, () => {});
    await until(() => lines().some((line) => line.startsWith(`300 ${message}`)), message);
  }
});
