/*
 * The console's script in a real browser, under the policy that pages are sent with, on pages made by hand: what is typed
 * and what is selected stays, what changes comes, and the box may go and come back.
 */
import assert from "node:assert/strict";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { until as met } from "../../support/until.ts";
import { BROWSER_PATIENCE_MS, COLOURS, findings, open } from "../tab.ts";
import { ownActIsntAskedFor, ownActIsWaitedFor } from "./own-acts.ts";
import { focused, has, type Step, stageOf, text } from "./page-stage.ts";
import { openScene, type Scene } from "./scene.ts";
import { soon } from "./stage.ts";

const ROW = (id: number, more = "") =>
  `<li class="row row-open" id="row-${id}" data-row ${more}><input type="checkbox" class="pick" name="id" value="${id}" aria-label="Select #${id}" form="bulk"><span class="row-title"><a class="message" href="/a/${id}">broken <var>${id}</var></a></span><span class="row-actions"><button type="button" class="button own" data-key="a">Ack</button></span></li>`;
const LIST = (ids: readonly number[], more = "") =>
  `<h2>List</h2><p class="new" data-new><button type="button"></button></p><ol class="rows" data-list ${more}>${ids.map((id) => ROW(id)).join("")}</ol>`;
const SELECTION = `<div class="selection" data-selection><span><span data-count>0</span> selected</span><form id="bulk" method="post" action="/bulk"><button class="button" data-key="a">Acknowledge</button></form></div>`;

const typedStays: Step = async ({ scene, tab, until, value }) => {
  scene.sections = {
    list: '<h2>One</h2><p class="n">1</p><button type="button" id="go">Go</button>',
    note: '<h2>Two</h2><p class="n">1</p><form method="post" action="/note"><label for="t">Note</label><textarea id="t" name="t"></textarea><button>Save</button></form>',
  };
  await tab.page.goto(`${scene.origin}/page`);
  await tab.page.fill("#t", "half a sen");
  await tab.page.focus("#t");
  await tab.run("document.querySelector('#t').setSelectionRange(4, 6)");
  scene.sections = {
    list: scene.sections["list"]?.replace(">1<", ">2<") ?? "",
    note: scene.sections["note"]?.replace(">1<", ">2<") ?? "",
  };
  scene.change("list", "note");
  await until(`${text("#list .n")} === "2"`);
  assert.equal(
    await value(text("#note .n")),
    "1",
    "a section that is being written in is left alone",
  );
  assert.equal(await value(focused), "t");
  assert.equal(await value("document.querySelector('#t').selectionStart"), 4);
  await until(`/^Changed just now/.test(${text("#note > .changed")} ?? "")`);

  // A refusal: what was typed stays, also through the next change.
  scene.forms["/note"] = (body) => ({
    status: 422,
    body: `<section id="note" data-live="note"><h2>Two</h2><form method="post" action="/note"><label for="t">Note</label><textarea id="t" name="t" aria-invalid="true">${body.get("t")}</textarea><p class="wrong">Too short.</p><button>Save</button></form></section>`,
  });
  await tab.page.click("#note form button");
  await until(has("#note .wrong"));
  await until(`${focused} === "t"`);
  assert.equal(await value("document.querySelector('#t').value"), "half a sen");
  scene.change("note");
  await until(has("#note > .changed"));
  assert.equal(await value("document.querySelector('#t').value"), "half a sen");
  await tab.page.click("#note > .changed button");
  await until(`${text("#note .n")} === "2" && document.querySelector('#t').value === ""`);

  // What has the focus keeps it, and where it goes away the section's heading has it.
  await tab.page.focus("#go");
  scene.sections["list"] =
    '<h2>One</h2><p class="more">0</p><p class="n">3</p><button type="button" id="go">Go</button>';
  scene.change("list");
  await until(`${text("#list .n")} === "3"`);
  assert.equal(await value(focused), "go");
  scene.sections["list"] = "<h2>One</h2><p class=n>4</p>";
  scene.change("list");
  await until(`${text("#list .n")} === "4"`);
  assert.equal(await value("document.activeElement.textContent"), "One");
};

/** The change that a form made is heard beside its answer, and asked for after it. */
const shownOnceStays: Step = async ({ scene, tab, until, value }) => {
  scene.sections = { key: '<form method="post" action="/key"><button>Make</button></form>' };
  scene.forms["/key"] = async () => {
    scene.change("key");
    await new Promise((resolve) => setTimeout(resolve, 150));
    scene.change("key");
    return { body: '<section id="key"><p id="secret">once</p></section>' };
  };
  await tab.page.goto(`${scene.origin}/page`);
  await until("document.querySelector('#key button') !== null");
  await tab.page.click("#key button");
  await until(has("#secret"));
  await tab.page.waitForTimeout(800);
  assert.equal(await value(has("#secret")), true);
};

const keysWork: Step = async ({ scene, tab, until, value, press }) => {
  scene.sections = { rows: LIST([1, 2, 3]), find: '<label for="q">Find</label><input id="q">' };
  scene.frame.beside = `${SELECTION}<button type="button" id="page-a" data-key="a">All</button>`;
  scene.forms["/bulk"] = () => ({
    body: `<output id="said" class="said" role="status"><span>Acknowledged 2.</span><form method="post" action="/undo"><button data-key="u">Undo</button></form></output>`,
  });
  scene.forms["/undo"] = () => ({
    body: '<output id="said" class="said"><span>As before.</span></output>',
  });
  await tab.page.goto(`${scene.origin}/page`);
  await tab.run(
    "window.pressed = []; addEventListener('click', ({ target }) => { if (target.dataset.key) pressed.push(target.closest('[data-row]')?.id ?? target.id) })",
  );
  await press("a");
  await press("j", "j", "a");
  assert.deepEqual(await value("pressed"), ["page-a", "row-2"]);
  await press("k", "x", "j", "j", "X");
  assert.equal(await value(text("[data-count]")), "3");
  await press("k", "x");
  assert.equal(await value(text("[data-count]")), "2");
  assert.equal(
    await value(
      "document.querySelector('.selection').checkVisibility({ visibilityProperty: true })",
    ),
    true,
  );
  await press("a");
  await until(`${text("#said span")} === "Acknowledged 2."`);
  const sent = scene.heard.findLast(({ path }) => path === "/bulk");
  assert.equal(sent?.body, "id=1&id=3");
  assert.equal(await value(text("[data-count]")), "0", "what was done is selected no more");
  await press("u");
  await until(`${text("#said span")} === "As before."`);

  await press("x", "Escape");
  assert.equal(await value(text("[data-count]")), "0");
  await tab.page.focus("#q");
  await press("a", "j", "x");
  assert.equal(
    await value("document.querySelector('#q').value"),
    "ajx",
    "in a field letters are letters",
  );
  await press("Escape");
  assert.equal(await value(focused), "");
  await press("?");
  await until(has("dialog[open] kbd"));
  assert.match(String(await value(text("dialog"))), /Next row/);
  await press("Escape");
  await until(`!${has("dialog")}`);
  await tab.run("document.documentElement.dataset.keys = 'off'");
  await press("j", "x");
  assert.equal(await value(text("[data-count]")), "0", "letters are turned off");
  await tab.run("document.documentElement.dataset.keys = 'on'");
  await press("g", "o");
  await tab.page.waitForURL(`${scene.origin}/other`);
};

const newOnesWait: Step = async ({ scene, tab, until, value, press }) => {
  const shown = "[...document.querySelectorAll('[data-row]')].map(({ id }) => id.slice(4)).join()";
  scene.attributes = { rows: "data-stay" };
  scene.sections = { rows: LIST([1, 2, 3]) };
  scene.frame.beside = SELECTION;
  await tab.page.goto(`${scene.origin}/page`);
  scene.sections = { rows: LIST([4, 1, 2, 3]) };
  scene.change("rows");
  await until(`${shown} === "4,1,2,3"`);
  await press("j", "j", "x");
  await tab.run(
    "window.shift = 0; new PerformanceObserver((list) => { for (const { value } of list.getEntries()) shift += value }).observe({ type: 'layout-shift' })",
  );
  // A storm: many changes, few requests, and nothing under the finger moves.
  const before = scene.heard.length;
  for (let at = 0; at < 40; at += 1) {
    scene.sections = { rows: LIST([6, 5, 4, 1, 3]) };
    scene.change("rows");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await until(`${text("[data-new] button")} === "2 new · Show"`);
  assert.equal(await value(shown), "4,1,2,3");
  assert.equal(await value(has("#row-2[data-gone]")), true);
  assert.equal(await value("document.querySelector('#row-1 input').checked"), true);
  assert.equal(await value("document.activeElement.closest('[data-row]').id"), "row-1");
  assert.equal(await value("shift"), 0);
  const asked = scene.heard.slice(before);
  assert.ok(asked.length >= 2 && asked.length <= 5, `${asked.length} requests in 2 s`);
  fewEnough(askedTimes(scene, before));
  assert.equal(asked[0]?.rows, "row-4,row-1,row-2,row-3");
  // Of as many as the box draws nobody knows how many more there are.
  scene.sections = { rows: LIST([9, 8, 7, 6], "data-more") };
  scene.change("rows");
  await until(`${text("[data-new] button")} === "4 or more new · Show"`);
  scene.sections = { rows: LIST([6, 5, 4, 1, 3]) };
  scene.change("rows");
  await until(`${text("[data-new] button")} === "2 new · Show"`);
  scene.sections = {
    rows: LIST([6, 5, 4, 1, 3]).replace(
      "</ol>",
      `${ROW(2, "data-gone").replace("broken", "Ack by Bob,")}</ol>`,
    ),
  };
  await tab.page.click("[data-new] button");
  await until(`${shown} === "6,5,4,1,2,3"`);
  assert.match(String(await value(text("#row-2"))), /Ack by Bob/);
  assert.equal(await value(text("[data-new] button")), "");
  await tab.page.reload();
  assert.equal(await value(shown), "6,5,4,1,3,2", "the next visit shows what the box shows");
};

/** A row that comes as its place alone stays as it is, but for whether it left. */
const placesKeepRows: Step = async ({ scene, tab, until, value }) => {
  scene.attributes = { rows: "data-stay" };
  const all = LIST([1, 2]).replaceAll("data-row ", 'data-row="a-_1" ');
  const place = (more = "", print = "a-_1") =>
    all.replace(/<li [^>]*id="row-1".*?<\/li>/, `<li id="row-1" data-row="${print}"${more}></li>`);
  scene.sections = { rows: all };
  await tab.page.goto(`${scene.origin}/page`);
  scene.sections = { rows: place().replace("broken <var>2", "mended <var>2") };
  scene.change("rows");
  await until(`/mended 2/.test(${text("#row-2")})`);
  assert.equal(scene.heard.at(-1)?.rows, "row-1.a-_1,row-2.a-_1");
  assert.match(String(await value(text("#row-1"))), /broken 1/);
  scene.sections = { rows: place(" data-gone") };
  scene.change("rows");
  await until(has("#row-1[data-gone]"));
  scene.sections = { rows: place() };
  scene.change("rows");
  await until(`!${has("#row-1[data-gone]")}`);
  assert.match(String(await value(text("#row-1"))), /broken 1/);
  // It was drawn otherwise since it was asked for: nothing is put there that doesn't fit.
  scene.sections = { rows: place("", "b-_2").replace("broken <var>2", "other <var>2") };
  scene.change("rows");
  await until(`/Changed just now/.test(${text("#rows")})`);
  assert.match(String(await value(text("#row-2"))), /broken 2/);
};

/** When the box heard the requests for sections that came after this one, in milliseconds from the first. */
const askedTimes = ({ heard }: Scene, from: number) => {
  const asked = heard.slice(from).filter(({ sections }) => sections !== "");
  return asked.map(({ at }) => at - (asked[0]?.at ?? 0));
};

/** In any second there are two at most. */
function fewEnough(times: readonly number[]): void {
  for (const [i, at] of times.entries()) {
    const third = times[i + 2];
    assert.ok(third === undefined || third - at >= 1000, `too many: ${times.map(Math.round)}`);
  }
}

/** What others do to what is shown is seen at once, also while much else changes. */
const actsAreSeenAtOnce: Step = async ({ scene, tab, until }) => {
  scene.attributes = { rows: "data-stay" };
  scene.topics = { rows: "alerts" };
  scene.sections = { rows: LIST([1, 2, 3]) };
  await tab.page.goto(`${scene.origin}/page`);
  await until("document.readyState === 'complete'");
  const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const shownAfter = async (mark: string, ...topics: string[]) => {
    scene.sections = { rows: LIST([1, 2, 3]).replace("List", mark) };
    await soon(tab, { ms: 300, what: `${mark} change` }, async () => {
      scene.change(...topics);
      await until(`${text("#rows h2")} === "${mark}"`);
    });
  };
  await rest(1200);
  const from = scene.heard.length;
  // After a pause; and a second one, of an alert that is shown.
  await shownAfter("first", "alerts", "alert:99");
  await shownAfter("second", "alerts", "alert:2");
  await rest(1200);
  // A stream of others: each tells of one that isn't shown.
  let at = 100;
  const stream = setInterval(() => scene.change("alerts", `alert:${at++}`), 40);
  await rest(2200);
  await shownAfter("act in a stream", "alerts", "alert:3");
  await rest(1000);
  clearInterval(stream);
  const times = askedTimes(scene, from);
  fewEnough(times);
  assert.ok(
    times.length >= 6 && times.length <= 10,
    `${times.length} requests: ${times.map(Math.round)}`,
  );
};

/** A section that shows other things than before is told of those, too. */
const newThingsAreFollowed: Step = async ({ scene, tab, until }) => {
  scene.sections = { a: '<p class="n">1</p>' };
  await tab.page.goto(`${scene.origin}/page`);
  await met(() => scene.following === 1, "the page follows");
  scene.topics = { a: "a deliveries:7" };
  scene.sections = { a: '<p class="n">2</p>' };
  scene.change("a");
  await until(`${text("#a .n")} === "2"`);
  scene.sections = { a: '<p class="n">3</p><span hidden data-seen="l-7-0"></span>' };
  scene.change("deliveries:7");
  await until(`${text("#a .n")} === "3"`);
  assert.equal(scene.watch, "a,deliveries:7");
  // What the box said that this page has seen is said again.
  scene.sections = { a: '<p class="n">4</p>' };
  scene.change("a");
  await until(`${text("#a .n")} === "4"`);
  assert.equal(scene.heard.at(-1)?.rows, "l-7-0");
};

const HOUR = 3_600_000;

const clocksDiffer: Step = async ({ scene, tab, until, value }) => {
  const at = (ms: number) => new Date(scene.now() + ms).toISOString();
  scene.now = () => Date.now() + HOUR;
  scene.sections = {
    times: `<p><time id="left" datetime="${at(192_000)}" data-until role="timer">?</time> <time id="ago" datetime="${at(-240_000)}" data-ago>?</time></p>`,
  };
  await tab.page.goto(`${scene.origin}/page`);
  await until(`${text("#left")} !== "?"`);
  const end = Date.parse(
    /id="left" datetime="([^"]+)"/.exec(scene.sections["times"] ?? "")?.[1] ?? "",
  );
  const [, minutes = "", seconds = ""] =
    /^(\d+):(\d\d)$/.exec(String(await value(text("#left")))) ?? [];
  const left = Number(minutes) * 60 + Number(seconds);
  assert.ok(Math.abs(left - (end - scene.now()) / 1000) <= 2, `${minutes}:${seconds}`);
  assert.equal(await value(text("#ago")), "4 min ago");
  await until(`${text("#left")} !== "${minutes}:${seconds}"`);
};

const boxGoes: Step = async ({ scene, tab, until, value }) => {
  const follows = () => met(() => scene.following === 1, "the page follows");
  const step = async (how: "bye" | "gone", to: string, rowSays = (_age: string) => {}) => {
    await follows();
    const from = performance.now();
    scene.down(how);
    await until(has("#bar > .unreached"));
    assert.match(
      String(await value(text("#bar"))),
      /can’t be reached · shown as of \d\d:\d\d · Try now/,
    );
    assert.equal(await value("scrollY"), 0);
    rowSays(
      String(
        await value(
          "getComputedStyle(document.querySelector('.row-age') ?? document.body, '::after').content",
        ),
      ),
    );
    scene.sections = { a: `<p class="n">${to}</p>` };
    await scene.up();
    await until(`${text("#a .n")} === "${to}" && !(${has(".unreached")})`);
    assert.ok(performance.now() - from < 6500);
  };
  scene.sections = {
    a: '<ol class="rows" data-list><li class="row" id="row-1" data-row><a href="/a/1">one</a><span class="row-age">1 min</span></li></ol><p class="n">1</p>',
  };
  await tab.page.goto(`${scene.origin}/page`);
  await step("gone", "2", (age) => assert.match(age, /as of \d\d:\d\d/));
  assert.equal(await value("document.querySelector('[data-as-of]')"), null);
  await step("bye", "3");
  // Where no stream comes through, the same is asked for.
  await follows();
  scene.noStreams();
  scene.sections = { a: '<p class="n">4</p>' };
  scene.change("a");
  await until(`${text("#a .n")} === "4"`);
  scene.sections = { a: '<p class="n">5</p>' };
  scene.change("a");
  await until(`${text("#a .n")} === "5"`);
};

const onlyWhatIsSeenFollows: Step = async ({ scene, tab, until }) => {
  const follow = (count: number) => met(() => scene.following === count, `${count} follow`);
  const seen = (isSeen: boolean) =>
    tab.run(
      `Object.defineProperty(document, "hidden", { configurable: true, value: ${!isSeen} }); document.dispatchEvent(new Event("visibilitychange"))`,
    );
  scene.sections = { a: '<p class="n">1</p>' };
  await tab.page.goto(`${scene.origin}/page`);
  await follow(1);
  await seen(false);
  await follow(0);
  scene.sections = { a: '<p class="n">2</p>' };
  scene.change("a");
  await seen(true);
  await until(`${text("#a .n")} === "2"`);
  await follow(1);
};

const menusHold: Step = async ({ scene, tab, until, value, press }) => {
  const menu = (n: number) =>
    `<p class="n">${n}</p><details class="menu" id="m"><summary>More</summary><div class="menu-items"><a href="/x" id="first">X</a></div></details>`;
  scene.sections = { a: menu(1), b: "<p class=n>1</p>" };
  await tab.page.goto(`${scene.origin}/page`);
  await tab.page.click("#m summary");
  scene.sections = { a: menu(2), b: "<p class=n>2</p>" };
  scene.change("a", "b");
  await until(`${text("#b .n")} === "2"`);
  assert.equal(await value(text("#a .n")), "1");
  await press("Escape");
  await until(`${text("#a .n")} === "2" && !document.querySelector("#m").open`);
  await tab.page.click("#m summary");
  await tab.page.click("#b");
  assert.equal(await value("document.querySelector('#m').open"), false);
};

const previewsFollow: Step = async ({ scene, tab, until, value }) => {
  scene.sections = {
    form: '<form method="post" action="/save" data-preview="would" data-preview-to="/try"><label for="f">Text</label><input id="f" name="f"></form>',
    would: '<p class="n">nothing</p>',
  };
  const tried: string[] = [];
  let end = (): void => {};
  const slow = new Promise<void>((resolve) => {
    end = resolve;
  });
  scene.forms["/try"] = async (body) => {
    const typed = body.get("f") ?? "";
    tried.push(typed);
    // The first is slow: it must not come after the second.
    if (typed === "ab") await slow;
    return { body: `<section id="would" data-live="would"><p class="n">${typed}</p></section>` };
  };
  await tab.page.goto(`${scene.origin}/page`);
  await tab.page.type("#f", "ab");
  await met(() => tried.includes("ab"), "what was typed is tried");
  await tab.page.type("#f", "c");
  await until(`${text("#would .n")} === "abc"`);
  assert.deepEqual(tried, ["ab", "abc"], "letters typed together are tried once");
  end();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.equal(await value(text("#would .n")), "abc");
  assert.equal(await value("document.querySelector('#f').value"), "abc");
};

/** Another rule is being tried: the last answer stays, and it is asked again until its turn comes. */
const previewsWait: Step = async ({ scene, tab, until, value }) => {
  scene.sections = {
    form: '<form method="post" action="/save" data-preview="would" data-preview-to="/try"><label for="f">Text</label><input id="f" name="f"></form>',
    would: '<p class="n">nothing</p>',
  };
  let asked = 0;
  scene.forms["/try"] = (body) => {
    asked += 1;
    const said = asked < 3 ? "busy" : (body.get("f") ?? "");
    return {
      ...(asked < 3 ? { status: 429 } : {}),
      body: `<section id="would" data-live="would"><p class="n">${said}</p></section>`,
    };
  };
  await tab.page.goto(`${scene.origin}/page`);
  await tab.page.type("#f", "ab", { delay: 20 });
  await until(`document.querySelector("#would").getAttribute("aria-busy") === "true"`);
  await until(`${text("#would .n")} === "ab"`);
  assert.equal(asked, 3);
  assert.equal(await value("document.querySelector('#would').hasAttribute('aria-busy')"), false);
};

const finds: Step = async ({ scene, tab, until, value, press }) => {
  scene.sections = {
    results: '<ul><li><a href="/found">Found it</a></li></ul>',
    token:
      '<input readonly id="tok" value="pti_1" aria-label="Token"><button type="button" data-copy="tok">Copy</button>',
  };
  await tab.page.goto(`${scene.origin}/page`);
  await tab.page.focus(".nav-item");
  await press("Control+k");
  await until(has("dialog.palette[open]"));
  await tab.page.keyboard.type("it");
  await until(has(".palette-results a"));
  await press("Escape");
  assert.equal(
    await value("document.activeElement.className"),
    "nav-item",
    "the focus is given back",
  );
  await tab.page.click("[data-palette]");
  await tab.page.keyboard.type("it");
  await until(has(".palette-results a"));
  await tab.page.keyboard.press("Enter");
  await tab.page.waitForURL(/\/found$/);
  await tab.page.goBack();
  await tab.page.click("[data-copy]");
  await until(`${text("[data-copy]")} === "Copied"`);
};

const formsGoOn: Step = async ({ scene, tab, until, value }) => {
  const form = (at: string) =>
    `<form method="post" action="${at}"><input name="action" value="x" aria-label="A field named action"><button data-busy="Saving …">Save</button></form>`;
  scene.sections = { a: form("/slow"), b: form("/go") };
  let answered = (): void => {};
  scene.forms["/slow"] = () =>
    new Promise((resolve) => {
      answered = () =>
        resolve({
          status: 500,
          body: "{}",
          headers: { "content-type": "application/json", "x-request-id": "req-7" },
        });
    });
  scene.forms["/go"] = () => ({ body: "", headers: { "x-go": "/there" } });
  await tab.page.goto(`${scene.origin}/page`);
  await tab.page.click("#a button");
  await until(`${text("#a button")} === "Saving …"`);
  await tab.page.click("#a button", { force: true });
  answered();
  await until(`${text("#said")} === "Not done: the box answered 500, request req-7."`);
  assert.equal(await value(text("#a button")), "Save");
  assert.equal(
    scene.heard.filter(({ path }) => path === "/slow").length,
    1,
    "pressed twice, sent once",
  );
  await tab.page.click("#b button");
  await tab.page.waitForURL(`${scene.origin}/there`);
};

const looksRight: Step = async ({ scene, tab, value }) => {
  scene.sections = {
    rows: LIST([1, 2]).replace("broken", "x".repeat(4096)),
    more: '<h2>More</h2><p class="soft">soft</p><p class="wrong">wrong</p><p class="buttons"><button type="button" class="button">Do</button> <button type="button" class="button danger">Delete</button></p><div class="table-wrap"><table class="table stacked"><thead><tr><th>a</th></tr></thead><tbody><tr><td data-label="a">1</td></tr></tbody></table></div>',
  };
  scene.frame.beside = SELECTION;
  for (const width of [320, 1280])
    for (const colorScheme of ["light", "dark"] as const)
      for (const forcedColors of ["none", "active"] as const) {
        await tab.page.setViewportSize({ width, height: 700 });
        await tab.page.emulateMedia({ colorScheme, forcedColors });
        await tab.page.goto(`${scene.origin}/page`);
        const shown = `${width} ${colorScheme} ${forcedColors}`;
        const over = await value("document.documentElement.scrollWidth - innerWidth");
        assert.ok(Number(over) <= 0, `${shown}: ${over} px too wide`);
        const isPlain = colorScheme === "light" && forcedColors === "none";
        assert.deepEqual(await findings(tab, isPlain ? [] : COLOURS), [], shown);
      }
};

const STEPS: Record<
  string,
  { step: Step; base?: string; noisy?: RegExp; options?: BrowserContextOptions }
> = {
  typedStays: { step: typedStays, noisy: /status of 422/ },
  shownOnceStays: { step: shownOnceStays },
  keysWork: { step: keysWork },
  newOnesWait: { step: newOnesWait },
  placesKeepRows: { step: placesKeepRows },
  actsAreSeenAtOnce: { step: actsAreSeenAtOnce },
  ownActIsntAskedFor: { step: ownActIsntAskedFor },
  ownActIsWaitedFor: { step: ownActIsWaitedFor },
  newThingsAreFollowed: { step: newThingsAreFollowed },
  clocksDiffer: { step: clocksDiffer },
  boxGoes: { step: boxGoes, noisy: /ERR_|status of 429/ },
  onlyWhatIsSeenFollows: { step: onlyWhatIsSeenFollows },
  menusHold: { step: menusHold, base: "/box" },
  previewsFollow: { step: previewsFollow },
  previewsWait: { step: previewsWait, noisy: /status of 429/ },
  finds: { step: finds },
  formsGoOn: { step: formsGoOn, noisy: /status of 500/ },
  looksRight: { step: looksRight },
};

/** `part`: only steps whose name holds it. */
export async function scriptHolds(browser: Browser, part = ""): Promise<void> {
  for (const [name, { step, base, noisy, options }] of Object.entries(STEPS)) {
    if (!name.includes(part)) continue;
    const scene = await openScene(base);
    const tab = await open(browser, options);
    tab.page.setDefaultTimeout(BROWSER_PATIENCE_MS);
    try {
      await step(stageOf(scene, tab));
      const own = new URL(scene.origin).origin;
      const noise = tab.noise.filter((line) => !line.startsWith(`request: ${own}/`));
      assert.deepEqual(
        noise.filter((line) => !noisy?.test(line)),
        [],
        name,
      );
    } catch (error) {
      console.log(
        `${name}: ${tab.noise.filter((line) => !line.startsWith("request:")).join("\n")}`,
      );
      throw error;
    } finally {
      await tab.close();
      scene.close();
    }
  }
}
