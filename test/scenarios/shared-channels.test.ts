import assert from "node:assert/strict";
import { boxAndReceiver } from "../support/contacts.ts";
import { long, test } from "../support/long.ts";
import { answer } from "../support/receiver.ts";
import { settle } from "../support/until.ts";

test("a shared channel hears of every project but those that it leaves out, whatever they are called later", async (t) => {
  const { box, receiver } = await boxAndReceiver(t);
  const heard = () => receiver.received.map(({ body }) => JSON.parse(body).project as string);
  const tokens = new Map<string, string>();
  const project = async (name: string) => {
    tokens.set(name, await box.project(name));
    const made = await box.api("POST", `/v1/projects/${name}/rules`, { name: "any" });
    assert.equal(made.status, 201);
  };
  const fire = async (name: string) => {
    await box.ingest(tokens.get(name) ?? "", { message: "disk is full", level: 500 });
    await settle(box);
  };
  for (const name of ["home", "shop", "quiet"]) await project(name);
  const hooks = "/v1/projects/home/integrations";
  const write = { type: "webhook", url: receiver.url, shared: true, except: ["nobody"] };
  const refused = await box.api("POST", hooks, write);
  assert.deepEqual([refused.status, refused.body.error.details[0].field], [400, "/except/0"]);
  const { id } = (await box.api("POST", hooks, { ...write, except: ["quiet"] })).body;
  const read = (await box.api("GET", `${hooks}/${id}`)).body;
  assert.deepEqual([read.shared, read.except, read.project], [true, ["quiet"], "home"]);

  for (const name of ["home", "shop", "quiet"]) await fire(name);
  assert.deepEqual(heard(), ["home", "shop"]);
  const lists = async (name: string) => {
    const path = `/v1/projects/${name}/integrations`;
    const own = (await box.api("GET", path)).body.integrations.length;
    return [own, (await box.api("GET", `${path}?shared=true`)).body.integrations.length];
  };
  assert.deepEqual(
    [await lists("shop"), await lists("quiet"), await lists("home")],
    [
      [0, 1],
      [0, 0],
      [1, 1],
    ],
  );

  // Projects that come later have it without further ado; a name is only a name.
  await box.api("POST", "/v1/projects/quiet/rename", { name: "calm" });
  await project("later");
  await fire("later");
  await box.ingest(tokens.get("quiet") ?? "", { message: "another thing fails", level: 500 });
  await settle(box);
  assert.deepEqual(heard(), ["home", "shop", "later"]);
  assert.deepEqual((await box.api("GET", `${hooks}/${id}`)).body.except, ["calm"]);

  const { body } = await box.api("GET", "/v1/projects/home/config");
  const config = body.config ?? body;
  assert.deepEqual(
    config.integrations.map((one: { shared: boolean; except: string[] }) => [
      one.shared,
      one.except,
    ]),
    [[true, ["calm"]]],
  );
  await box.api("PUT", `${hooks}/${id}`, { shared: false });
  await box.ingest(tokens.get("shop") ?? "", { message: "a third thing fails", level: 500 });
  await settle(box);
  assert.equal(heard().length, 3);
});

for (const kind of ["integrations", "webhooks"])
  test(`what waits for a channel that is deleted is told as dropped (${kind})`, async (t) => {
    const { box, receiver } = await boxAndReceiver(t);
    const token = await box.project("shop");
    await box.api("POST", "/v1/projects/shop/rules", { name: "any" });
    receiver.always(answer(503));
    const write = { type: "webhook", name: "ops", url: receiver.url };
    const { id } = (await box.api("POST", "/v1/projects/shop/integrations", write)).body;
    await box.ingest(token, { message: "disk is full", level: 500 });
    await settle(box);
    const gone = await box.api("DELETE", `/v1/projects/shop/${kind}/${id}`);
    assert.deepEqual([gone.status, gone.body], [200, { deleted: true }]);
    const { timeline } = (await box.api("GET", "/v1/alerts/1/timeline")).body;
    const detail = { integration: "ops", type: "webhook", event: "alert.opened", attempts: 1 };
    assert.deepEqual(
      timeline.flatMap((entry: { kind: string; detail: object }) =>
        entry.kind === "delivery_dropped" ? [entry.detail] : [],
      ),
      [{ ...detail, error: "the channel was deleted" }],
    );
  });

long("a tenant shares so many channels and no more: each alert goes by all of them", async (t) => {
  const { box, receiver } = await boxAndReceiver(t);
  for (const name of ["a", "b", "c"]) await box.project(name);
  const share = (i: number, shared = true) =>
    box.api("POST", `/v1/projects/${"abc"[i % 3]}/integrations`, {
      type: "webhook",
      url: `${receiver.url}/${i}`,
      name: `${i}`,
      shared,
    });
  for (let i = 0; i < 200; i++) assert.equal((await share(i)).status, 201);
  const refused = await share(200);
  assert.deepEqual(
    [refused.status, refused.body.error.code, refused.body.error.details[0].field],
    [422, "too_many", "/shared"],
  );
  const own = await share(200, false);
  assert.equal(own.status, 201);
  const path = `/v1/projects/c/integrations/${own.body.id}`;
  assert.equal((await box.api("PUT", path, { shared: true })).body.error.code, "too_many");
  const { version, config } = (await box.api("GET", "/v1/projects/c/config")).body;
  const [first, ...rest] = config.integrations;
  const whole = {
    ...config,
    integrations: [{ ...first, shared: true }, ...rest].map((one) => ({ ...one, shared: true })),
  };
  const put = await box.api("PUT", "/v1/projects/c/config", { version, config: whole });
  assert.deepEqual([put.status, put.body.error.code], [422, "too_many"]);
});
