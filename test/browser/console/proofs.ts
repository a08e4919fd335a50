/** What holds for all of the console: strangers' pages write nothing, it reads without script, a proxy and a restart don't matter. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { Browser, Page } from "playwright-core";
import { openPages } from "../../../src/web/console/open-pages.ts";
import { screens } from "../../../src/web/console/screens.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { dump } from "../../support/dump.ts";
import { freePort } from "../../support/free-port.ts";
import { furnish } from "../../support/house.ts";
import { mountedProxy } from "../../support/mounted.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { settle, until } from "../../support/until.ts";
import { screensOf } from "../screens-of.ts";
import { open, type Tab, withoutStatus } from "../tab.ts";
import { followed, onStage, running, seen, soon } from "./stage.ts";

const PASSWORD = "correct horse battery";

/** Gives the owner a password, as somebody who has paired has one. */
async function withPassword(box: TestBox): Promise<void> {
  const hash = await box.tenant.passwords.hash(PASSWORD);
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE accounts SET password_hash = ? WHERE id = ?").run(hash, box.owner.accountId),
  );
}

async function signIn(page: Page, base: string): Promise<void> {
  await page.goto(`${base}/alerts`);
  assert.equal(page.url(), `${base}/signin?to=%2Falerts`);
  await page.fill("#email", "owner@example.org");
  await page.fill("#password", PASSWORD);
  await Promise.all([page.waitForURL(`${base}/alerts`), page.click("main button")]);
}

const press = (page: Page, button: string) =>
  Promise.all([page.waitForNavigation(), page.locator(button).first().click()]);

/** A page of somebody else's, on a port of its own: the same host, so that the browser sends its cookies there. */
async function strangersPage(): Promise<{ url: string; close(): void }> {
  const server = createServer((_request, response) =>
    response
      .writeHead(200, { "content-type": "text/html" })
      .end("<!doctype html><title>x</title><iframe name=f></iframe>"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/`, close };
}

/** AC-V6: a form, `fetch` and a beacon, each to every address that takes a form. */
async function othersWriteNothing(browser: Browser, receiver: Receiver): Promise<void> {
  const stranger = await strangersPage();
  await onStage(browser, async ({ box, visit }) => {
    const { alerts, ann } = await furnish(box, receiver);
    const values: Record<string, string> = { id: alerts.critical, account: ann.accountId };
    const addresses = [
      ...screens.flatMap(({ path, forms = {} }) =>
        Object.keys(forms).map((suffix) => (suffix === "" ? path : `${path}/${suffix}`)),
      ),
      ...openPages.map(({ path }) => path),
    ].map((path) => box.url + path.replace(/\{(\w+)\}/g, (_all, name) => values[name] ?? "shop"));
    const tab = await visit("/alerts");
    await tab.page.goto(stranger.url);
    const answers: string[] = [];
    tab.page.on("response", (answer) => {
      if (answer.request().method() === "POST")
        answers.push(`${answer.request().resourceType()} ${answer.status()}`);
    });
    // The refusal is a page of the box, which a browser gives no script of another origin.
    tab.page.on("requestfailed", (request) => {
      const why = request.failure()?.errorText ?? "";
      if (
        request.resourceType() === "fetch" &&
        why.endsWith("ERR_BLOCKED_BY_RESPONSE.NotSameOrigin")
      )
        answers.push("fetch withheld");
    });
    let carried = 0;
    tab.page.on("request", async (request) => {
      const { cookie = "" } = await request.allHeaders().catch(() => ({ cookie: "" }));
      if (request.method() === "POST" && cookie.includes("box=")) carried += 1;
    });
    const before = dump(box.tenant.store.db);
    const sent = 3 * addresses.length;
    await tab.run(`(async () => {
      for (const url of ${JSON.stringify(addresses)}) {
        const body = new URLSearchParams({ id: "1", text: "x", name: "x", hours: "1" });
        await fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body, headers: { accept: "text/html" } }).catch(() => {});
        navigator.sendBeacon(url, body);
        const form = Object.assign(document.createElement("form"), { method: "post", action: url, target: "f" });
        document.body.append(form);
        const gone = new Promise((done) => document.querySelector("iframe").addEventListener("load", done, { once: true }));
        form.submit();
        await gone;
      }
    })()`);
    await until(() => answers.length >= sent, "every post is answered");
    // A beacon can't ask for a page, so that it is told of none.
    assert.deepEqual([...new Set(answers)].sort(), ["document 403", "fetch withheld", "ping 404"]);
    assert.ok(carried > 0, "no post had the cookie with it: nothing was tried");
    assert.equal(dump(box.tenant.store.db), before, "another origin's page wrote");
    console.log(`  ${sent} posts from another origin, ${carried} of them with the cookie`);
  });
  stranger.close();
}

/** AC-V3: signs in and does a night's work with scripts off; and every screen reads. */
async function readsWithoutScript(browser: Browser, receiver: Receiver): Promise<void> {
  const box = await testBox();
  const tab = await open(browser, {
    javaScriptEnabled: false,
    viewport: { width: 360, height: 740 },
  });
  const { page } = tab;
  try {
    const house = await furnish(box, receiver);
    await withPassword(box);
    await signIn(page, box.url);
    const { critical, error } = house.alerts;
    await press(page, `#row-${critical} button:text-is("Acknowledge")`);
    assert.match((await page.textContent("#said")) ?? "", /Acknowledged #/);
    await page.goto(`${box.url}/a/${critical}`);
    await page.fill("#note-text", "provider is down");
    await press(page, `#note button`);
    assert.match((await page.textContent("#timeline")) ?? "", /provider is down/);
    // What still matches is asked about first.
    await box.clock.turn(400_000);
    await press(page, `main button:text-is("Resolve")`);
    assert.match((await page.textContent("#head .state")) ?? "", /Resolved/);
    await page.goto(`${box.url}/a/${error}`);
    await page.click("[popovertarget=more]");
    await page.click("#silence summary");
    await page.fill("#silence-reason", "deploy");
    await press(page, "#silence button");
    assert.match((await page.textContent("#said")) ?? "", /[Ss]ilenced/);
    await page.goto(`${box.url}/me`);
    await page.fill("#name input", "Olga the Owner");
    await press(page, "#name button");
    assert.match((await page.textContent("#said")) ?? "", /Your name is Olga the Owner now/);
    const blank: string[] = [];
    for (const [name, path] of Object.entries(screensOf(house))) {
      await page.goto(box.url + path);
      if (((await page.textContent("#main")) ?? "").trim().length < 20) blank.push(name);
      // Each form can be sent by a button that is there or that opens with its menu.
      const stuck = await page
        .locator("main form[method=post]")
        .evaluateAll(
          (forms) =>
            (
              forms as unknown as { elements: ArrayLike<{ localName: string; type: string }> }[]
            ).filter(
              ({ elements }) =>
                !Array.from(elements).some(
                  ({ localName, type }) => localName === "button" && type === "submit",
                ),
            ).length,
        );
      if (stuck > 0) blank.push(`${name}: ${stuck} forms without a button`);
    }
    assert.deepEqual(blank, []);
    await page.goto(`${box.url}/me`);
    await press(page, "#out button");
    assert.equal(page.url(), `${box.url}/signin`);
    assert.deepEqual(
      withoutStatus(tab.noise).filter((line) => !line.startsWith(`request: ${box.url}/`)),
      [],
    );
  } finally {
    await tab.close();
    await box.stop();
  }
}

interface At {
  base: string;
  receiver: Receiver;
  screens?: typeof screensOf;
}

/** Signs in, follows and acknowledges by script, and looks at every screen, or at those that are wanted. */
async function livesAt(
  tab: Tab,
  box: TestBox,
  { base, receiver, screens = screensOf }: At,
): Promise<void> {
  const { page } = tab;
  const house = await furnish(box, receiver);
  await withPassword(box);
  const stop = running(box);
  await signIn(page, base);
  const [cookie] = (await page.context().cookies()).filter(({ httpOnly }) => httpOnly);
  assert.deepEqual(
    [cookie?.name, cookie?.secure, cookie?.path, cookie?.sameSite],
    ["__Host-box", true, "/", "Lax"],
  );
  await followed(box);
  const { warn, error } = house.alerts;
  // What somebody else does is seen: the stream came through.
  const acked = await box.api("POST", `/v1/alerts/${warn}/ack`, undefined, house.bob.key);
  assert.equal(acked.status, 200, JSON.stringify(acked.body));
  await seen(tab, `document.querySelector("#row-${warn}[data-gone]") !== null`);
  await page.locator(`#row-${error} button`, { hasText: "Acknowledge" }).click();
  await seen(tab, `/Acknowledged #${error}/.test(document.querySelector("#said").textContent)`);
  for (const [name, path] of Object.entries(screens(house))) {
    const answer = await page.goto(base + path);
    assert.equal(answer?.status(), name === "missing" ? 404 : 200, `${name} at ${base}`);
  }
  await stop();
  const noise = withoutStatus(tab.noise).filter((line) => !line.startsWith(`request: ${base}/`));
  assert.deepEqual(noise, []);
}

/** AC-V4: below `/box/` behind a proxy that ends TLS. */
async function behindProxy(browser: Browser, receiver: Receiver): Promise<void> {
  const proxy = await mountedProxy();
  const box = await testBox({ publicUrl: proxy.url });
  proxy.to(box.url);
  const tab = await open(browser, { ignoreHTTPSErrors: true });
  try {
    await livesAt(tab, box, { base: proxy.url, receiver });
    assert.deepEqual(proxy.strays, []);
  } finally {
    await tab.close();
    await box.stop();
    proxy.close();
  }
}

/** AC-V4: over the box's own https. */
async function overHttps(browser: Browser, receiver: Receiver): Promise<void> {
  const [pem, authority] = ["good", "authority"].map(
    (name) => new URL(`../../fixtures/tls/${name}.pem`, import.meta.url).pathname,
  ) as [string, string];
  const known = getCACertificates();
  setDefaultCACertificates([...known, readFileSync(authority, "utf8")]);
  const box = await testBox({ tlsCert: pem, tlsKey: pem });
  const tab = await open(browser, { ignoreHTTPSErrors: true });
  // A picture for the tab is asked for by browsers themselves.
  await tab.page.context().route("**/favicon.ico", (route) => route.fulfill({ status: 204 }));
  try {
    // The pages are the same as without TLS: the cookie and the stream are what another scheme can break.
    await livesAt(tab, box, { base: box.url, receiver, screens: () => ({ me: "/me" }) });
  } finally {
    await tab.close();
    await box.stop();
    setDefaultCACertificates(known);
  }
}

/** AC-V8: the box restarts below an open page. */
async function boxRestarts(browser: Browser): Promise<void> {
  const box = await testBox({ listen: `127.0.0.1:${await freePort()}` });
  const tab = await open(browser);
  const { page } = tab;
  await page.context().route("**/favicon.ico", (route) => route.fulfill({ status: 204 }));
  try {
    const token = await box.project("shop");
    await box.api("POST", "/v1/projects/shop/rules", { name: "errors", identifier_keys: ["n"] });
    const fire = async (n: string) => {
      await box.ingest(token, { message: "payment failed", level: 500, keys: { n } });
      await settle(box);
    };
    await fire("a");
    const stop = running(box);
    const [name = "", value = ""] = signedIn(box).cookie.split("=");
    await page.context().addCookies([
      { name, value, url: box.url },
      { name: "zone", value: "UTC", url: box.url },
    ]);
    const list = await page.context().newPage();
    await list.goto(`${box.url}/alerts`);
    await page.bringToFront();
    await Promise.all([
      page.waitForResponse((answer) => new URL(answer.url()).pathname === "/live"),
      page.goto(`${box.url}/a/1`),
    ]);
    await page.fill("#note-text", "we look at it, half a sent");
    let asked = 0;
    page.on("request", (request) => {
      if (request.headers()["x-sections"] !== undefined) asked += 1;
    });
    let gone = 0;
    await box.restart(async () => {
      gone = await seen(tab, `document.querySelector("#bar > .unreached") !== null`);
      // Longer than a page waits between its tries.
      await page.waitForTimeout(2500);
    });
    const back = await soon(tab, { ms: 3000, what: "it is back" }, () =>
      seen(tab, `document.querySelector("#bar > .unreached") === null`),
    );
    assert.ok(gone <= 3000, `the bar came after ${gone} ms`);
    assert.equal(await page.inputValue("#note-text"), "we look at it, half a sent");
    await box.api("POST", "/v1/alerts/1/ack");
    await soon(tab, { ms: 3000, what: "what came after is seen" }, () =>
      seen(tab, `/has it/.test(document.querySelector("#head").textContent)`),
    );
    assert.equal(await page.inputValue("#note-text"), "we look at it, half a sent");
    assert.ok(asked <= 10, `${asked} requests for sections`);
    await page.click("#note button");
    await seen(tab, `/half a sent/.test(document.querySelector("#timeline").textContent)`);
    await fire("b");
    await list.bringToFront();
    await list.waitForSelector("#row-2", { timeout: 5000 });
    await stop();
    console.log(`  the bar after ${Math.round(gone)} ms, back after ${Math.round(back)} ms`);
  } finally {
    await tab.close();
    await box.stop();
  }
}

const STEPS = { othersWriteNothing, readsWithoutScript, behindProxy, overHttps, boxRestarts };

export async function consoleHolds(browser: Browser): Promise<void> {
  const receiver = await startReceiver();
  try {
    for (const [name, step] of Object.entries(STEPS)) {
      await step(browser, receiver).catch((error) => {
        throw new Error(`console, ${name}: ${error.message}`, { cause: error });
      });
      console.log(`  ok console ${name}`);
    }
  } finally {
    await receiver.close();
  }
}
