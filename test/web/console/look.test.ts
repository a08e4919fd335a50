import assert from "node:assert/strict";
import { test } from "node:test";
import { ICON_NAMES } from "../../../src/web/console/ui/icon.ts";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";

const AT = "/system/look";

test("owners see every component: each level, proof, hue, icon and state of an alert", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const owner = signedIn(box);
  const { status, text } = await owner.get(AT);
  assert.equal(status, 200);
  const shown = [
    ...["critical", "error", "warn", "info", "debug"].map((kind) => `badge badge-${kind}`),
    ...["proved", "not proved lately", "never proved", "nothing reaches them"].map(
      (words) => `aria-label="${words}"`,
    ),
    ...Array.from({ length: 8 }, (_, at) => `chip hue-${at + 1}`),
    ...["open", "ack", "silenced", "resolved"].map((state) => `row row-${state} `),
    ...["row-first", "row-many", "rung-now", "rung-later", "rung-done", "chip-rings"],
    ...["bar bar-alert", "bar bar-status", "said wrong", "cal-gap", "cal-mine", "heat-4"],
    ...["notice-good", "notice-warn", "notice-wrong", 'aria-invalid="true"', "disabled"],
    ...["button danger", "button plain", "button second", "duty-strip", "now-card", "empty-what"],
    ...["run-full", "run-hollow", "run-cross", "run-failed", "no run yet", 'class="tiles"'],
    ...["sample-resolution", "sample-analysis", "19 fewer than before", "as many as before"],
    ...ICON_NAMES.map((name) => `<span class="small soft">${name}</span>`),
  ];
  assert.deepEqual(
    shown.filter((part) => !text.includes(part)),
    [],
  );
  const [, samples = ""] = text.split('<div class="look"');
  const leads = [...samples.matchAll(/(?:href|action)="([^"]*)"/g)].map(([, to]) => to);
  assert.ok(leads.length > 40);
  assert.deepEqual([...new Set(leads.filter((to) => to !== AT))], []);
  assert.match((await owner.get(`${AT}?theme=dark`)).text, /<div class="look" data-theme="dark">/);
  assert.doesNotMatch(text, /<div class="look" data-theme/);
  assert.equal((await owner.get(`${AT}?theme=blue`)).status, 404);
  const admin = (await signedIn(box, box.person("admin")).get(AT)).text;
  assert.match(admin, /Owners see what the pages are made of/);
  assert.doesNotMatch(admin, /class="look"/);
});
