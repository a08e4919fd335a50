import assert from "node:assert/strict";
import { test } from "node:test";
import { titleOfAlert, titleParts } from "../../../src/core/alerts/title.ts";
import fc, { anyCharacter } from "../../support/property.ts";

/** What people call an alert. */

const shown = (of: { title?: string; last_message: string; template?: string }) => {
  const titled = { title: null, template: "it <*> down", ...of };
  const title = titleOfAlert(titled);
  const parts = titleParts(title, titled).map(({ text, variable }) =>
    variable ? `‹${text}›` : text,
  );
  return parts.join("");
};

test("a title is the sender's, else the message's first line, else the template", () => {
  assert.equal(shown({ last_message: "it went down" }), "it ‹went› down");
  assert.equal(shown({ title: "Shop", last_message: "it went down" }), "Shop");
  assert.equal(shown({ last_message: "\n \t\n  it went down\nsince noon" }), "it ‹went› down");
  assert.equal(shown({ last_message: "another text" }), "another text");
  const template = "it <*> down since <*>";
  assert.equal(shown({ last_message: "it went down\nsince noon", template }), "it ‹went› down");
  assert.equal(shown({ last_message: " \n " }), "it <*> down");
});

test("a long line is cut, and what varies in it is known", () => {
  const template = "user <*> lost <*> of it all";
  const found = shown({ last_message: `user ann lost ${"x".repeat(300)} of it all`, template });
  assert.equal(found, `user ‹ann› lost ‹${"x".repeat(185)}›…`);
  const long = `user ann lost 7 of it all${" and then".repeat(1000)}`;
  assert.match(
    shown({ last_message: long, template: `${template} and…` }),
    /^user ‹ann› lost ‹7› of/,
  );
});

test("the parts are the title, whatever message and template are", () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 300 });
  fc.assert(
    fc.property(fc.option(text), text, text, (title, last_message, template) => {
      const of = { title, last_message, template };
      const parts = titleParts(titleOfAlert(of), of);
      assert.equal(parts.map((part) => part.text).join(""), titleOfAlert(of));
    }),
  );
});
