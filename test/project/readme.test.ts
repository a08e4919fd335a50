import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, root, withBox } from "./document.ts";

test("the README's first alert, word for word, on a new box", () =>
  withBox(async ({ url, shell }) => {
    const [block = ""] = blocks("README.md", "sh", "## First alert");
    assert.ok(block.includes("pair-code"));
    const { code, out, err } = await shell(
      block.replaceAll("http://127.0.0.1:8080", url),
      {},
      root,
    );
    assert.equal(code, 0, err);
    assert.match(out, /"alerted":true/);
    assert.match(out, /1\s+open\s+error\s+1 .* shop\s+errors\s+payment <\*> failed after <\*>/);
    assert.match(out, /1\s+acknowledged/);
  }));
