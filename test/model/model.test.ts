import { test } from "node:test";
import { runModel } from "./run.ts";

test("two tenants do what the model says, over 100 sequences of commands", async (t) => {
  const figures = await runModel(100, { most: 40, seconds: 30 });
  t.diagnostic(JSON.stringify(figures));
});
