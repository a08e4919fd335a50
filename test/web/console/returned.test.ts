import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser } from "../../../src/app/prove/browser.ts";
import { ServiceError } from "../../../src/ground/kit/errors.ts";
import { createRouting } from "../../../src/web/console/routing.ts";
import { screens } from "../../../src/web/console/screens.ts";
import { screensOf } from "../../browser/screens-of.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { type Control, type FormOnPage, formsOn } from "../../support/forms-on.ts";
import { furnish } from "../../support/house.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";

const routing = createRouting(screens);

let box: TestBox;
let receiver: Receiver;
let addresses: string[];
before(async () => {
  receiver = await startReceiver();
  box = await testBox();
  const house = await furnish(box, receiver);
  const action = { name: "restart", method: "POST", url: `${receiver.url}/restart` };
  await box.api("POST", "/v1/projects/shop/actions", action);
  const { endpoint, keys } = browser().subscription("https://push.example.org/one");
  await box.api("POST", "/v1/push/subscriptions", { endpoint, keys, label: "pixel" });
  const { alerts } = house;
  await box.api("POST", `/v1/alerts/${alerts.critical}/notes`, { text: "seen" });
  addresses = Object.values(screensOf(house));
});
after(async () => {
  await box.stop();
  await receiver.close();
});

/** Who is added to a layer comes back in its list. */
const ELSEWHERE = /^l\d+-add$/;
/** Nobody is sent it back: it has to be typed again, and isn't left out by mistake. */
const isSecret = ({ kind, name }: Control) =>
  kind === "password" || /^(?:headers|body)$/.test(name);

const TEXTS: Readonly<Record<string, string>> = {
  number: "7",
  "datetime-local": "2031-02-03T04:05",
  url: "https://typed.example.org/<x>",
  email: "typed@example.org",
};

/** Another value than the page was drawn with; null: it is no field, or one that comes back empty. */
function other({ kind, value, options, name }: Control): string | null {
  if (kind === "hidden" || kind === "pick" || ELSEWHERE.test(name)) return null;
  if (kind === "box") return value === null ? "on" : null;
  if (kind === "select") return options.findLast((one) => one !== value) ?? null;
  return TEXTS[kind] ?? 'typed "so" & <kept>';
}

/** Fills every field of a form in otherwise, in the order of the page. */
function filledIn(form: FormOnPage): { sent: [string, string][]; wanted: Map<string, string> } {
  const [sent, wanted] = [[] as [string, string][], new Map<string, string>()];
  for (const control of form.controls) {
    const { key, name, kind, value, box: ticked } = control;
    if (kind === "radio") {
      // The last of the choices, whichever was chosen.
      const last = form.controls.findLast((one) => one.kind === "radio" && one.name === name);
      const isOn = last === control;
      if (isOn) sent.push([name, ticked]);
      wanted.set(key, isOn ? "on" : "off");
      continue;
    }
    if (kind === "box") {
      const isOn = other(control) === "on";
      if (isOn) sent.push([name, ticked]);
      wanted.set(key, isOn ? "on" : "off");
      continue;
    }
    const changed = other(control);
    if (value !== null || changed !== null) sent.push([name, changed ?? value ?? ""]);
    if (changed !== null) wanted.set(key, isSecret(control) ? "again" : changed);
  }
  return { sent, wanted };
}

/** What a field holds now; of a secret one that it must be typed again. */
function held(control: Control): string {
  const { kind, value, isRequired } = control;
  if (isSecret(control)) return isRequired && value === "" ? "again" : `${value}`;
  if (kind === "box" || kind === "radio") return value === null ? "off" : "on";
  return value ?? "";
}

/** What of a form isn't there any more, when it comes back to who sent it to this address. */
async function lost(at: string, form: FormOnPage, action: string): Promise<string[]> {
  const found = routing.form(action);
  assert.ok(found, action);
  if (found.form.reads) return [];
  const { act } = found.form;
  found.form.act = () => {
    throw new ServiceError("invalid_request", "Not so.");
  };
  try {
    const { sent, wanted } = filledIn(form);
    const answer = await signedIn(box).post(action, sent, { from: at });
    assert.equal(answer.status, 422, `${action} on ${at}`);
    // Two forms of a page may go to one address: the one sent has as many fields.
    const back = formsOn(answer.text).find(
      (one) => one.action === form.action && one.controls.length === form.controls.length,
    );
    const now = new Map(back?.controls.map((control) => [control.key, held(control)]));
    return [...wanted]
      .filter(([key, value]) => (now.get(key) ?? "off") !== value)
      .map(([key, value]) => `${action} on ${at}: ${key} is ${now.get(key)}, not ${value}`);
  } finally {
    found.form.act = act;
  }
}

test("a form that isn't taken comes back as it was filled in: every field, every tick", async () => {
  const tab = signedIn(box);
  const [seen, faults] = [new Set<string>(), [] as string[]];
  for (const at of addresses)
    for (const form of formsOn((await tab.get(at)).text))
      for (const action of form.actions.filter((one) => !one.endsWith("/delete"))) {
        const fields = form.controls.filter(({ kind }) => kind !== "hidden" && kind !== "pick");
        const shape = `${action.replace(/\d+|[0-9a-f]{16}/g, "0")} ${fields.length}`;
        if (fields.length === 0 || seen.has(shape)) continue;
        seen.add(shape);
        faults.push(...(await lost(at, form, action)));
      }
  assert.ok(seen.size > 25, `${seen.size} forms`);
  assert.deepEqual(faults, []);
});
