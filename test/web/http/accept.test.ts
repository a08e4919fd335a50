import assert from "node:assert/strict";
import { test } from "node:test";
import { prefersJson } from "../../../src/web/http/accept.ts";
import fc from "../../support/property.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

test("JSON is for who asks for it", () => {
  const asks = [
    "application/json",
    "Application/JSON; charset=utf-8",
    "application/json, text/plain, */*",
    "application/json;q=0.9, text/html;q=0.8",
    "text/html;q=0, application/json;q=0.1",
    "application/json;q=0.5, text/*;q=0.5",
  ];
  for (const accept of asks) assert.ok(prefersJson(accept), accept);
});

test("everybody else gets the page", () => {
  const others = [
    undefined,
    "",
    "*/*",
    BROWSER,
    "text/html, application/json",
    "application/jsonp",
    "application/json;q=0",
    "application/json;q=0.1, */*",
    "application/json;q=x",
    "application/json;q=-1",
    "application/json;q=2",
    "text/*, application/json;q=0.9",
  ];
  for (const accept of others) assert.ok(!prefersJson(accept), String(accept));
});

test("whatever stands there is taken", () => {
  fc.assert(fc.property(fc.string(), (accept) => typeof prefersJson(accept) === "boolean"));
  assert.ok(!prefersJson(`${"a,".repeat(10_000)}application/json`));
});
