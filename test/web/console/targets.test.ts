import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { targetOf } from "../../../src/web/console/routing.ts";
import type { Form } from "../../../src/web/console/screen.ts";
import { screens } from "../../../src/web/console/screens.ts";

const act: Form["act"] = () => ({ said: "" });

/** Every form, with the address that it has; the ids in it are the names of what they are of. */
const forms = screens.flatMap(({ path, forms = {} }) =>
  Object.entries(forms).map(([suffix, form]) => {
    const at = suffix === "" ? path : `${path}/${suffix}`;
    const names = [...at.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
    return { at, form, params: Object.fromEntries(names.map((name) => [name, `the-${name}`])) };
  }),
);

describe("what a form is done to", () => {
  test("the last thing that its address names", () => {
    const of = (params: Record<string, string>) => targetOf({ verb: "tryIt", act }, params);
    assert.deepEqual(of({ alert: "7", note: "3" }), { kind: "alert", id: "7" });
    assert.deepEqual(of({ account: "a", session: "s" }), { kind: "session", id: "s" });
    assert.deepEqual(of({ project: "shop", rule: "errors" }), { kind: "rule", id: "shop/errors" });
  });

  test("else what it says itself, else what its verb is about", () => {
    const none = { kind: "sign_in_provider", id: "" };
    assert.deepEqual(targetOf({ verb: "createSignInProvider", act }, {}), none);
    const relay = targetOf({ verb: "testRelay", target: "relay:1", act }, {});
    assert.deepEqual(relay, { kind: "relay", id: "1" });
  });

  test("whatever is done to an alert is, since that alone goes on without its entry on a full disk", () => {
    const ofAlerts = forms.filter(({ at, form }) => /^\/(a|alerts)\//.test(at) && !form.reads);
    assert.ok(ofAlerts.length > 15);
    for (const { at, form, params } of ofAlerts.filter(({ at }) => !at.includes("/actions/")))
      assert.equal(targetOf(form, params).kind, "alert", at);
  });
});
