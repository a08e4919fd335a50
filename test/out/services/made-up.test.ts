import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Command } from "commander";
import { z } from "zod";
import { registerIntegrations } from "../../../cli/integrations.ts";
import { text } from "../../../src/ground/kit/fields.ts";
import { silentLog } from "../../../src/ground/kit/log.ts";
import { describe } from "../../../src/out/outbox/message.ts";
import { verdictOf } from "../../../src/out/outbox/senders/sent.ts";
import { channel } from "../../../src/out/services/channel.ts";
import { channelList, channels } from "../../../src/out/services/list.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { testProject } from "../../support/channels.ts";
import { handClock } from "../../support/clock.ts";
import { answer, type Receiver, startReceiver } from "../../support/receiver.ts";
import { pass, settle, through } from "../../support/until.ts";

let receiver: Receiver;
let box: TestBox;

/** A kind that nobody knows but this test: one object. */
const pigeon = (post: string) =>
  channel({
    kind: "pigeon",
    about: "a homing pigeon",
    fields: z.strictObject({
      loft: text(64).meta({ description: "where it flies to" }),
      ring: z
        .string()
        .regex(/^\d{1,6}$/, { error: "must be digits" })
        .optional()
        .meta({ description: "the number on its ring" }),
    }),
    flags: { loft: "<loft>", ring: "--ring <number>" },
    shown: ({ loft }) => `${loft.slice(0, 2)}…`,
    settings: {
      pigeonPost: {
        flag: "--pigeon-post <url>",
        about: "where pigeons start",
        usual: post,
        read: (_flag, value) => value,
      },
    },
    async send({ credentials, event, message, egress, now, settings }) {
      const { title } = describe(event);
      const result = await egress.send({
        method: "POST",
        url: `${settings.pigeonPost}/${credentials.loft}`,
        headers: {},
        body: `${title.slice(0, 40)} ${message.eventId}`,
      });
      if (result.status === 418) throw new Error("a kind with a fault");
      if (result.status === 404) return { verdict: { kind: "never", error: "no such loft" } };
      const moved = result.headers["x-loft"];
      const verdict = verdictOf(result, now);
      return moved === undefined ? { verdict } : { verdict, learned: { loft: moved } };
    },
  });

before(async () => {
  receiver = await startReceiver();
  const kinds = channelList([...channels.kinds, pigeon(receiver.url)]);
  box = await testBox({}, handClock(), silentLog, { channels: kinds });
});
after(async () => {
  await receiver.close();
  await through(box, box.stop());
});

const create = (project: string, body: object) =>
  box.api("POST", `/v1/projects/${project}/integrations`, { type: "pigeon", ...body });

test("one object makes a kind that is created, listed, sent through, tested, learned of and taken along in the configuration", async () => {
  const shop = await testProject(box, "shop");
  assert.equal((await create("shop", {})).body.error.code, "missing_credential");
  assert.equal(
    (await create("shop", { loft: "a", token: "x" })).body.error.code,
    "credential_not_allowed",
  );
  const wrong = await create("shop", { loft: "a", ring: "seven" });
  assert.equal(wrong.status, 400);
  assert.match(JSON.stringify(wrong.body), /\/ring.*must be digits/);
  const made = await create("shop", { loft: "northern-loft", ring: "7", name: "bird" });
  assert.deepEqual([made.status, Object.keys(made.body)], [201, ["id"]]);
  const { id } = made.body;
  const { body: read } = await box.api("GET", `/v1/projects/shop/integrations/${id}`);
  assert.deepEqual([read.type, read.url, read.name], ["pigeon", "no…", "bird"]);
  assert.ok(!readFileSync(join(box.data, "box.db")).includes("northern-loft"), "it is sealed");

  const fired = await box.api("POST", `/v1/projects/shop/integrations/${id}/test`);
  assert.deepEqual(fired.body, { ok: true });
  receiver.once(answer(200, "", { "x-loft": "southern-loft" }));
  await shop.fire(1);
  await settle(box);
  await shop.fire(2);
  await settle(box);
  assert.deepEqual(
    receiver.received.map(({ path, body }) => [path, body.replace(/ evt_.*/, "")]),
    [
      ["/northern-loft", "Test: shop"],
      ["/northern-loft", "ERROR shop: it is down"],
      ["/southern-loft", "ERROR shop: it is down"],
    ],
  );
  receiver.once(answer(404));
  await shop.fire(3);
  await settle(box);
  const deliveries = await shop.deliveries(id);
  assert.deepEqual(
    deliveries.map(({ status, last_error }) => [status, last_error]),
    [
      ["failed", "no such loft"],
      ["delivered", null],
      ["delivered", null],
    ],
  );

  const { body: config } = await box.api("GET", "/v1/projects/shop/config");
  const [row] = config.config.integrations;
  assert.deepEqual([row.type, row.loft, row.ring], ["pigeon", "kept", "kept"]);
  const changed = { ...config.config, integrations: [{ ...row, loft: { value: "third" } }] };
  const put = { version: config.version, config: changed };
  assert.equal((await box.api("PUT", "/v1/projects/shop/config", put)).status, 200);
  await shop.fire(4);
  await pass(box, 5);
  assert.equal(receiver.received.at(-1)?.path, "/third");
});

test("a kind that throws is a fault of ours: it is tried again, the receiver is not blamed, a test says so", async () => {
  const shop = await testProject(box, "faulty");
  const { id } = (await create("faulty", { loft: "faulty" })).body;
  receiver.once(answer(418), answer(418));
  const fired = await box.api("POST", `/v1/projects/faulty/integrations/${id}/test`);
  assert.deepEqual(fired.body, { ok: false, error: "could not be sent: see the log" });
  await shop.fire("a");
  await settle(box);
  assert.equal((await shop.integration(id)).consecutive_failures, 0);
  await pass(box, 5);
  assert.equal((await shop.deliveries(id))[0]?.status, "delivered");
});

test("a credential in the configuration is held to the kind's own rules", async () => {
  await testProject(box, "held");
  const { body } = await box.api("GET", "/v1/projects/held/config");
  const ring = { type: "pigeon", loft: { value: "a" }, ring: { value: "seven" } };
  const config = { ...body.config, integrations: [ring] };
  const refused = await box.api("PUT", "/v1/projects/held/config", {
    version: body.version,
    config,
  });
  assert.equal(refused.status, 400);
  assert.deepEqual(refused.body.error.details, [
    { field: "/config/integrations/0/ring", reason: "must be digits" },
  ]);
});

test("its fields stand in the document of the interface, its flags in the command line", async () => {
  const { body: document } = await box.api("GET", "/v1/openapi.json");
  const { properties } =
    document.paths["/v1/projects/{id}/integrations"].post.requestBody.content["application/json"]
      .schema;
  assert.equal(properties.loft.description, "pigeon: where it flies to");
  assert.ok(JSON.stringify(properties.type).includes('"pigeon"'));
  const program = new Command("box");
  registerIntegrations(program, channelList([...channels.kinds, pigeon("")]));
  const add = program.commands
    .find((command) => command.name() === "integration")
    ?.commands.find((command) => command.name() === "add-pigeon");
  assert.equal(add?.usage(), "[options] <project> <loft>");
  const ring = add?.options.find(({ long }) => long === "--ring");
  assert.deepEqual([ring?.envVar, ring?.mandatory], ["BOX_PIGEON_RING", false]);
});

test("two kinds, or two settings, that are called the same are refused", () => {
  assert.throws(() => channelList([...channels.kinds, channels.kinds[0] as never]), /the same/);
});

test("every kind that has a file is in the list, and no other folder knows one by its name", () => {
  const rooms = join(import.meta.dirname, "../../../src");
  const files = readdirSync(rooms, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => ({ file, code: readFileSync(join(rooms, file), "utf8") }));
  const own = files.flatMap(
    ({ code }) => /= (?:channel|webhookRoom)\(\{\s+kind: "(\w+)"/.exec(code)?.[1] ?? [],
  );
  assert.deepEqual(own.sort(), channels.kinds.map(({ kind }) => kind).sort());
  // The signed webhook is a resource of the contract's own, and what the relay is wired by. A page's input may be of type="email".
  for (const kind of own.filter((name) => name !== "webhook"))
    for (const { file, code } of files)
      assert.ok(
        file.startsWith("out/services/") ||
          // Which of them another system's channel becomes is the importers' to say.
          file.startsWith("records/import/") ||
          // There a field's type is an input's.
          (kind === "email" && file.startsWith("web/console/")) ||
          !new RegExp(`type(?!=").{0,8}"${kind}"`).test(code),
        `${file} asks for ${kind}`,
      );
});
