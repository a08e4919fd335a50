import assert from "node:assert/strict";
import { test } from "node:test";
import { ForgetfulMap } from "../../../src/ground/kit/forgetful-map.ts";

test("a full map forgets all for something new, and nothing for what it has", () => {
  const map = new ForgetfulMap<string, number>(2);
  map.set("a", 1).set("b", 2).set("a", 3);
  assert.deepEqual(
    [...map],
    [
      ["a", 3],
      ["b", 2],
    ],
  );
  map.set("c", 4);
  assert.deepEqual([...map], [["c", 4]]);
});
