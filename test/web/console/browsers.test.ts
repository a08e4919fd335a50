import assert from "node:assert/strict";
import { test } from "node:test";
import { browser } from "../../../src/app/prove/browser.ts";
import { deviceName } from "../../../src/web/browser/device-name.ts";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";

const AT = { from: "/me/devices" };

test("a browser is added with the box's key, renewed as it was, changed, and gone with its session", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const tab = signedIn(box);
  const stored = () => box.tenant.store.sql("SELECT total_changes()").pluck().get();
  const list = async () => (await box.api("GET", "/v1/push/subscriptions")).body.subscriptions;
  const before = stored();
  const first = (await tab.get("/me/devices")).text;
  assert.match(first, /id="add-browser" data-server-key=""/, "to look at it makes no key");
  assert.match(first, /Nothing rings yet/);
  assert.equal(stored(), before);
  const asked = await tab.post("/me/devices/key", {}, { ...AT, headers: { "x-sections": "1" } });
  const key = /data-server-key="([\w-]+)"/.exec(asked.text)?.[1] ?? "";
  assert.equal(key, (await box.api("GET", "/v1/push/key")).body.public_key);

  const fields = (path: string, more = {}) => {
    const { endpoint, keys } = browser().subscription(`https://push.example.org/${path}`);
    return { endpoint, ...keys, timezone: "Europe/Vienna", server_key: key, ...more };
  };
  const add = async (form: Record<string, string>) => {
    const made = await tab.post("/me/devices/browser", form, AT);
    assert.equal(made.status, 200, made.text);
    assert.equal(made.headers.get("cache-control"), "no-store");
    return /data-device="([0-9a-f]{16})"/.exec(made.text)?.[1] ?? "";
  };
  const id = await add(fields("one", { label: "Pixel 8 · Chrome" }));
  await box.project("shop");
  const change = { label: "my phone", lock_screen: "place" };
  const wants = [
    ["wants", "pages"],
    ["wants", "all:shop"],
  ] as [string, string][];
  const changed = await tab.post(
    `/me/devices/${id}/change`,
    [...Object.entries(change), ...wants],
    AT,
  );
  assert.equal(changed.status, 303, changed.text);
  const page = (await tab.get("/me/devices")).text;
  assert.match(page, /Saved for my phone\./);
  assert.match(page, /pages for me, every alert of shop that pages nobody · its lock screen shows/);
  assert.match(page, /never confirmed: ring it/);
  assert.doesNotMatch(page, /Nothing rings yet/);
  assert.doesNotMatch(page, new RegExp(`id="contact-${id}"`), "it stands there once");

  // Its push service wants another: it stays what it was.
  const other = await add(fields("two", { replaces: id }));
  const [renewed, ...rest] = await list();
  assert.deepEqual([rest, renewed.id], [[], other]);
  assert.deepEqual(
    [renewed.label, renewed.wants, renewed.lock_screen],
    ["my phone", ["pages", "all:shop"], "place"],
  );

  const none = await tab.post("/me/devices/browser", { endpoint: "" }, AT);
  assert.equal(none.status, 422);
  assert.match(none.text, /it takes scripts and your permission/);
  const wrong = await tab.post("/me/devices/browser", fields("x", { auth: "short" }), AT);
  assert.match(wrong.text, /must be 16 bytes in base64url/);

  const bob = signedIn(box, box.person("member"));
  await bob.post("/signout", { device: other });
  assert.equal((await list()).length, 1, "only one's own");
  assert.equal((await tab.post("/signout", { device: other })).status, 303);
  assert.deepEqual(await list(), []);
});

test("AC-10.4: over http nothing offers a push; what is needed for it is said", async (t) => {
  const box = await testBox({ publicUrl: "http://box.lan:8080" });
  t.after(() => box.stop());
  const tab = signedIn(box);
  for (const path of ["/me/devices", "/welcome"]) {
    const near = (await tab.get(path)).text;
    assert.match(near, /Add this browser/, "on its own machine a browser can");
    const far = (await tab.get(path, { "x-forwarded-for": "10.0.0.7" })).text;
    assert.doesNotMatch(far, /id="add-browser"/);
    assert.match(far, /this address is http|This address is http/);
  }
});

test("a browser is called by its device and its name", () => {
  const table: [agent: string, name: string][] = [
    [
      "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
      "Android · Chrome",
    ],
    [
      "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP2A) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36",
      "Pixel 8 · Chrome",
    ],
    ["Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0", "Android · Firefox"],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1",
      "iPhone · Safari",
    ],
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
      "Windows · Edge",
    ],
    ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Linux · Firefox"],
    ["", "A device · a browser"],
  ];
  for (const [agent, name] of table) assert.equal(deviceName(agent), name, agent);
});
