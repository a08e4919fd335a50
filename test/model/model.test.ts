import { test } from "node:test";
import { runModel } from "./run.ts";

test("two tenants do what the model says, over 12 sequences of commands", async (t) => {
  const figures = await runModel(12, 40);
  t.diagnostic(JSON.stringify(figures));
});
