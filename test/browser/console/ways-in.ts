/** Coming in: by a passkey, on a phone by its desk, by an invitation; and being sent out. Each where it is seen. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { signedIn } from "../../support/console.ts";
import { CLIENT, realProvider } from "../../support/provider.ts";
import { open, type Tab, withoutStatus } from "../tab.ts";
import { onStage, type Stage, seen, soon } from "./stage.ts";

/** A finger that is always there, and a place for passkeys. */
const AUTHENTICATOR = {
  protocol: "ctap2",
  transport: "internal",
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

/** Passkeys are asked for by the button alone, unless a story says otherwise. */
const BY_BUTTON = `if (localStorage.getItem("offered") === null)
  PublicKeyCredential.isConditionalMediationAvailable = async () => false;`;

const shows = (tab: Tab, words: string, selector = "main") =>
  seen(
    tab,
    `document.querySelector(${JSON.stringify(selector)})?.textContent.includes(${JSON.stringify(words)})`,
  );
const isAt = (tab: Tab, path: string) => seen(tab, `location.pathname === ${JSON.stringify(path)}`);

/** Adds one, signs out, comes in by it, removes it, and is refused. */
async function passkeysWork({ box }: Stage, browser: Browser): Promise<void> {
  const url = box.url.replace("127.0.0.1", "localhost");
  const tab = await open(browser);
  const { page } = tab;
  try {
    const debug = await page.context().newCDPSession(page);
    await debug.send("WebAuthn.enable");
    await debug.send("WebAuthn.addVirtualAuthenticator", { options: AUTHENTICATOR });
    const [name = "", value = ""] = signedIn(box).cookie.split("=");
    await page.context().addCookies([{ name, value, url }]);
    await page.context().addInitScript(BY_BUTTON);
    await page.goto(`${url}/me/passkeys`);
    await page.fill("input[name=name]", "My laptop");
    await page.keyboard.press("Enter");
    await shows(tab, "My laptop", "#passkeys");
    await shows(tab, "signs you in from now on", "#said");
    const signOut = async () => {
      await page.goto(`${url}/signout`);
      await page.click("main form button");
      await isAt(tab, "/signin");
    };
    const comeIn = () => page.click("form[data-passkey] button");
    await signOut();
    await comeIn();
    await isAt(tab, "/alerts");
    // The finger is on it already: what the email's field offers is taken at once.
    await page.goto(`${url}/signout`);
    await tab.run("localStorage.setItem('offered', '1')");
    await page.click("main form button");
    await isAt(tab, "/alerts");
    await tab.run("localStorage.clear()");
    await page.goto(`${url}/me/passkeys`);
    await shows(tab, "My laptop", "#passkeys");
    assert.ok(!((await page.textContent("#passkeys")) ?? "").includes("never"));
    await page.click("#passkeys button");
    await shows(tab, "None. A passkey is stored", "#passkeys");
    await signOut();
    await comeIn();
    await shows(tab, "This passkey isn't known here.");
    assert.deepEqual(
      withoutStatus(tab.noise).filter((line) => !line.startsWith(`request: ${url}/`)),
      [],
    );
  } finally {
    await tab.close();
  }
}

/** AC-10.4: where there can be none, no control offers any, and the reason is text. */
async function addressesHaveNone({ box, visit, calm }: Stage): Promise<void> {
  const tab = await visit("/me/passkeys");
  await shows(tab, "this address is an IP address");
  assert.equal(await tab.page.locator("[data-passkey-new]").count(), 0);
  await calm(tab, "passkeys at a number");
  await tab.page.context().clearCookies();
  await tab.page.goto(`${box.url}/signin`);
  await shows(tab, "this address is an IP address");
  assert.equal(await tab.page.locator("[data-passkey]").count(), 0);
}

const PHONE = { viewport: { width: 360, height: 740 } };

/** Both pages go on by themselves: the desk when the phone came, the phone when the desk has answered. */
async function phoneComesIn({ box, visit, calm }: Stage, browser: Browser): Promise<void> {
  const desk = await visit("/me/phone");
  await desk.page.click("#phone button");
  // This box is reached by this machine alone: the link is made by hand.
  await shows(desk, "can’t come to", "#phone");
  const [{ session } = { session: "" }] = box.tenant.store
    .sql<[], { session: string }>("SELECT id AS session FROM sessions ORDER BY rowid DESC")
    .all();
  const sees = box.tenant.ways.phones.deskSees(session);
  assert.equal(sees?.state, "shown");
  const code = sees?.state === "shown" ? sees.code : "";
  const phone = await open(browser, PHONE);
  const { page } = phone;
  try {
    await page.goto(`${box.url}/phone#code=${code}`);
    await seen(phone, `document.querySelector("#digits") !== null`);
    assert.equal(page.url(), `${box.url}/phone`, "the code isn't in the address");
    assert.equal(await phone.run("history.length"), 2);
    await soon(desk, { ms: 1500, what: "the desk sees the phone" }, () =>
      shows(desk, "A phone wants to sign in as you", "#phone"),
    );
    const digits = (await page.textContent("#digits")) ?? "";
    await desk.page.fill("input[name=digits]", digits);
    await desk.page.keyboard.press("Enter");
    await isAt(phone, "/alerts");
    await shows(desk, "Your phone is signed in", "#phone");
    await calm(desk, "the desk of a phone");
    assert.deepEqual(
      phone.noise.filter((line) => !line.startsWith(`request: ${box.url}/`)),
      [],
    );
  } finally {
    await phone.close();
  }
}

/** AC-20.2: who was invited takes the seat in a second browser; both lists show it by themselves. */
async function invitedIsListed({ box, visit }: Stage, browser: Browser): Promise<void> {
  const here = await visit("/people");
  await here.page.click("#invite form button");
  const link = (await here.page.textContent("#invitation")) ?? "";
  await shows(here, "Open invitations", "#open");
  const there = await open(browser, PHONE);
  try {
    await there.page.goto(link);
    await there.page.fill("#email", "cy@example.org");
    await there.page.fill("#display_name", "Cy");
    await there.page.fill("#password", "correct horse");
    await there.page.keyboard.press("Enter");
    await isAt(there, "/welcome");
    await shows(here, "cy@example.org", "#people");
    await seen(here, `!document.querySelector("#open").textContent.includes("Open invitations")`);
    const stands = await here.run(`document.querySelector("#invitation")?.textContent`);
    assert.equal(stands, link, "what is shown once stays while its page changes");
    await there.page.goto(`${box.url}/people`);
    await shows(there, "cy@example.org", "#people");
    await box.api("POST", "/v1/pair/codes", { role: "admin", email: "di@example.org" });
    await shows(here, "di@example.org", "#open");
  } finally {
    await there.close();
  }
}

/** AC-20.3: a session that is ended elsewhere hears nothing from then on, and its next request is the sign-in page. */
async function endedIsOut({ box, visit }: Stage): Promise<void> {
  const tab = await visit("/alerts");
  const cookie = (await tab.page.context().cookies()).find(({ name }) => name === "box");
  const stream = await fetch(`${box.url}/live?watch=alerts`, {
    headers: { cookie: `box=${cookie?.value}`, accept: "text/event-stream" },
  });
  const reader = stream.body?.getReader() ?? assert.fail();
  const ended = (async () => {
    while (!(await reader.read()).done);
    return performance.now();
  })();
  const { body } = await box.api("GET", "/v1/sessions");
  const start = performance.now();
  assert.equal((await box.api("DELETE", `/v1/sessions/${body.sessions[0].id}`)).status, 200);
  const took = (await ended) - start;
  assert.ok(took <= 1000, `its stream ended after ${took} ms`);
  await seen(tab, `document.querySelector("#bar .unreached, #bar a[href*=signin]") !== null`);
  await tab.page.goto(`${box.url}/people`);
  assert.equal(new URL(tab.page.url()).pathname, "/signin");
}

/** Away to a real provider and back, to the page that was asked for. */
async function providerVouches({ box }: Stage, browser: Browser): Promise<void> {
  box.clock.setWall(Date.now());
  const claims = { email: "owner@example.org", email_verified: true };
  const provider = await realProvider({ olga: claims }, [`${box.url}/signin/oidc/callback`]);
  const tab = await open(browser);
  const { page } = tab;
  try {
    const { status } = await box.api("POST", "/v1/sign-in/providers", {
      name: "Lab",
      issuer: provider.issuer,
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
    });
    assert.equal(status, 201);
    await page.goto(`${box.url}/people`);
    await page.click("text=Sign in with Lab");
    await page.fill("input[name=login]", "olga");
    await page.fill("input[name=password]", "any");
    await page.click("button[type=submit]");
    await page.click("button[type=submit]");
    await isAt(tab, "/people");
    await page.goto(`${box.url}/system/sign-in`);
    await shows(tab, provider.issuer, "#providers");
    await page.click("#password button");
    await shows(tab, "Passwords open nothing", "#password");
    await page.context().clearCookies();
    await page.goto(`${box.url}/signin`);
    assert.equal(await page.locator("input[autocomplete=current-password]").count(), 0);
  } finally {
    await tab.close();
    provider.close();
  }
}

export async function waysInHold(browser: Browser): Promise<void> {
  await onStage(browser, async (stage) => {
    stage.run();
    await passkeysWork(stage, browser);
    await addressesHaveNone(stage);
    await phoneComesIn(stage, browser);
    await invitedIsListed(stage, browser);
    await endedIsOut(stage);
    await providerVouches(stage, browser);
  });
}
