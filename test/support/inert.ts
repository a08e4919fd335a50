import assert from "node:assert/strict";
import { parse } from "parse5";

/** No element and no attribute that isn't the console's own. */
export function mustBeInert(page: string): void {
  const walk = (node: {
    tagName?: string;
    attrs?: { name: string; value: string }[];
    childNodes?: unknown[];
  }) => {
    assert.ok(
      !["img", "iframe", "object", "embed", "base"].includes(node.tagName ?? ""),
      node.tagName ?? "",
    );
    if (node.tagName === "script")
      assert.match(node.attrs?.find(({ name }) => name === "src")?.value ?? "", /^\/assets\//);
    for (const { name, value } of node.attrs ?? []) {
      assert.doesNotMatch(name, /^on|^style$|^srcdoc$/);
      if (name === "href") assert.match(value, /^(\/|#)/);
    }
    for (const child of node.childNodes ?? []) walk(child as never);
  };
  walk(parse(page) as never);
}
