import { test } from "node:test";
import { runModel } from "./run.ts";

const SEQUENCES = Number(process.env["RUNS"] ?? 5000);

test(`two tenants do what the model says, over ${SEQUENCES} sequences of commands`, async (t) => {
  const figures = await runModel(SEQUENCES, 40);
  t.diagnostic(JSON.stringify(figures));
});
