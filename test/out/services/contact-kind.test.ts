import assert from "node:assert/strict";
import { test } from "node:test";
import { masked } from "../../../src/out/services/contact-kind.ts";
import { maskedMail } from "../../../src/out/services/email/person.ts";

test("what is shown of an address is never most of it", () => {
  const table = [
    ["ab", "…"],
    ["abcde", "…e"],
    ["uQiRzpo4DXgh", "…DXgh"],
    ["+4915112345678", "…5678"],
  ] as const;
  for (const [of, shown] of table) assert.equal(masked(of), shown);
  assert.equal(maskedMail("annie@example.org"), "…e@example.org");
  assert.equal(maskedMail("a@example.org"), "…@example.org");
  assert.equal(maskedMail("al@example.org"), "…@example.org");
});
