import assert from "node:assert/strict";
import { test } from "node:test";
import { compileTemplate, TemplateFault } from "../../../src/ground/kit/mustache.ts";
import fc from "../../support/property.ts";

const fields = new Set(["a", "b", "list", "deep", "yes", "no", "key", "constructor", "toString"]);
const render = (template: string, view: object, most = 1_000) =>
  compileTemplate(template, fields).render(view, most);

test("values, sections, inverted sections, dots and comments, as Mustache has them", () => {
  const view = {
    a: '<b> & "c"',
    b: 7,
    yes: true,
    no: false,
    list: [{ key: "x" }, { key: "y" }],
    deep: { inside: { most: "found" } },
  };
  const table: [template: string, text: string][] = [
    ["{{a}} {{{a}}} {{&a}}", '<b> & "c" <b> & "c" <b> & "c"'],
    ["{{ b }}|{{no}}|{{deep}}|{{list}}|", "7|false|||"],
    ["{{deep.inside.most}}{{deep.no.such}}", "found"],
    ["{{#list}}[{{key}}{{b}}]{{/list}}", "[x7][y7]"],
    ["{{#yes}}in{{/yes}}{{^yes}}out{{/yes}}{{#no}}in{{/no}}{{^no}}out{{/no}}", "inout"],
    ["{{#deep}}{{inside.most}}{{/deep}}", ""],
    ["{{#a}}({{.}}){{/a}}", '(<b> & "c")'],
    ["x{{! nothing {{ to see }}y", "xy"],
    ["a{{^list}}none{{/list}}b", "ab"],
    ["1\n{{#yes}}\n2\n{{/yes}}\n3", "1\n2\n3"],
    ["1\r\n  {{#list}}  \r\n-{{key}}\r\n  {{/list}}\r\n3", "1\r\n-x\r\n-y\r\n3"],
    ["no tags }} at all {", "no tags }} at all {"],
  ];
  for (const [template, text] of table) {
    const isDeep = template.startsWith("{{#deep}}");
    if (isDeep) assert.throws(() => render(template, view), /"inside.most" is no field/);
    else assert.equal(render(template, view), text, template);
  }
});

test("only what the data has of its own is there: nothing of a prototype, and nothing is called", () => {
  const view = { a: { b: "x" }, b: () => "called", list: Object.create({ key: "inherited" }) };
  assert.equal(render("{{constructor}}{{toString}}{{a.constructor}}{{b}}{{list.key}}", view), "");
  assert.equal(render("{{#constructor}}in{{/constructor}}{{#a}}{{toString}}{{/a}}", view), "");
});

test("a bad template is refused with its place", () => {
  const table: [template: string, fault: RegExp][] = [
    ["{{a}}\n {{#list}}x", /^line 2, column 2: section "list" is never closed$/],
    ["x{{a", /^line 1, column 2: a tag is never closed$/],
    ["x\ny\n{{/a}}", /^line 3, column 1: "a" is closed, but no section is open$/],
    ["{{#a}}{{#b}}{{/a}}", /^line 1, column 13: "a" is closed, but section "b" is open$/],
    ["{{mesage}}", /^line 1, column 1: "mesage" is no field of an event$/],
    ["{{}}", /is no field/],
    ["{{a..b}}", /is no field/],
    ["{{> other}}", /there are no partials here/],
    ["{{=<% %>=}}", /there are no other delimiters here/],
    ["{{#a}}".repeat(9), /column 49: sections stand more than 8 deep$/],
    ["{{a}}".repeat(201), /more than 200 tags/],
  ];
  for (const [template, fault] of table)
    assert.throws(
      () => render(template, {}),
      (thrown) => thrown instanceof TemplateFault && fault.test(thrown.message),
      template,
    );
});

test("lists within lists end, and output has a bound", () => {
  const list = Array.from({ length: 100 }, () => ({ key: "" }));
  const nested = `${"{{#list}}".repeat(8)}${"{{/list}}".repeat(8)}`;
  const started = performance.now();
  assert.throws(() => render(nested, { list }), RangeError);
  assert.ok(performance.now() - started < 500);
  const long = render("{{#list}}{{a}}{{/list}}", { list, a: "💥".repeat(50_000) }, 1_001);
  assert.ok(long.length <= 1_001 && long.isWellFormed());
});

test("whatever is written as a template is taken or refused, and what is taken keeps its bounds", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "{{",
      "}}",
      "{{#",
      "{{/",
      "{{^",
      "{{{",
      "}}}",
      "a",
      "list",
      ".",
      "!",
      "\n",
      " ",
    ),
    fc.string({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      try {
        const text = render(pieces.join(""), { a: "x", list: [{ key: 1 }, { key: 2 }] }, 50);
        assert.ok(text.length <= 50);
      } catch (fault) {
        assert.ok(fault instanceof TemplateFault || fault instanceof RangeError, String(fault));
      }
    }),
    { numRuns: 500 },
  );
});
