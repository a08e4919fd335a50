/** What somebody does on a page comes with the answer to it, and isn't asked for once more. The page's clock is turned by hand. */
import assert from "node:assert/strict";
import { until as met } from "../../support/until.ts";
import { type PageStage, type Step, text } from "./page-stage.ts";

/** As long as an answer is waited for, milliseconds, and a little less. */
const ALMOST_WAITED_MS = 490;
const WAITED_MS = 520;

/** Notes in the page what it asks for, but for what follows the box, and what it was told. */
const NOTES = `window.asked = [];
window.told = "";
{ const ask = window.fetch;
window.fetch = (address, init) => {
  const sections = init?.headers?.["X-Sections"] ?? "";
  if (!String(address).includes("/live")) asked.push((init?.method ?? "GET") + " " + sections);
  return ask(address, init);
};
const read = ReadableStreamDefaultReader.prototype.read;
ReadableStreamDefaultReader.prototype.read = function () {
  return read.call(this).then((piece) => { told += piece.value ?? ""; return piece; });
}; }`;

/** Opens the page, which follows; from then on its clock goes where it is turned, and what it asked for is told. */
async function openNoted({ scene, tab, value }: PageStage) {
  const { page } = tab;
  const { clock } = page;
  await page.addInitScript(NOTES);
  await clock.install();
  await page.goto(`${scene.origin}/page`);
  await met(() => scene.following === 1, "the page follows");
  // Less than a stream may be silent for.
  await clock.pauseAt(Number(await value("Date.now()")) + 10_000);
  const asked = async () => (await value("asked")) as string[];
  return { asked, pass: (ms: number) => clock.runFor(ms) };
}

/** The change that a form made is told after its answer, which shows it already. */
export const ownActIsntAskedFor: Step = async (stage) => {
  const { scene, tab, until } = stage;
  scene.sections = {
    a: '<p class="n">1</p><form method="post" action="/do"><button>Do</button></form>',
  };
  scene.forms["/do"] = () => {
    const since = scene.change("a");
    return {
      body: `<section id="a" data-live="a"><p class="n">2</p></section>`,
      headers: { "x-since": since },
    };
  };
  const { asked, pass } = await openNoted(stage);
  let tell = (): void => {};
  scene.late = new Promise((resolve) => {
    tell = resolve;
  });
  await tab.page.click("#a button");
  await until(`${text("#a .n")} === "2"`);
  tell();
  await until(`told.includes("change")`);
  await pass(5000);
  assert.deepEqual(await asked(), ["POST 1"]);
  scene.late = null;
  scene.sections = { a: '<p class="n">3</p>' };
  scene.change("a");
  await until(`told.split("change").length === 3`);
  await pass(WAITED_MS);
  await until(`${text("#a .n")} === "3"`);
  assert.deepEqual(await asked(), ["POST 1", "GET a"]);
};

/** The same where it is told before the answer comes: only an answer that takes long isn't waited for. */
export const ownActIsWaitedFor: Step = async (stage) => {
  const { scene, tab, until, value } = stage;
  const form = (at: string) =>
    `<p class="n">1</p><form method="post" action="${at}"><button>Do</button></form>`;
  scene.sections = { a: form("/do"), b: form("/slow") };
  const { asked, pass } = await openNoted(stage);
  // As high as before: what comes up where somebody pressed rests.
  const done = `<p class="n">2</p><button type="button">Done</button>`;
  let answer = (): void => {};
  for (const [path, id] of Object.entries({ "/do": "a", "/slow": "b" }))
    scene.forms[path] = async () => {
      scene.sections[id] = done;
      const since = scene.change(id);
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      const body = `<section id="${id}" data-live="${id}">${done}</section>`;
      return { body, headers: { "x-since": since } };
    };
  await tab.page.click("#a button");
  await until(`told.includes("change")`);
  await pass(ALMOST_WAITED_MS);
  answer();
  await until(`${text("#a .n")} === "2"`);
  await pass(5000);
  assert.deepEqual(await asked(), ["POST 1"]);

  await tab.page.click("#b button");
  await until(`told.split("change").length === 3`);
  scene.sections["a"] = '<p class="n">3</p>';
  scene.change("a");
  await until(`told.split("change").length === 4`);
  await pass(WAITED_MS);
  await until(`${text("#a .n")} === "3"`);
  // What others do is shown while a form waits; so is what it did itself, once that was told.
  assert.equal(await value(text("#b .n")), "2");
  assert.deepEqual(await asked(), ["POST 1", "POST 1", "GET b,a"]);
  answer();
  await until(`!document.querySelector("#b form[aria-busy]")`);
  assert.equal(await value(text("#b .n")), "2");
};
