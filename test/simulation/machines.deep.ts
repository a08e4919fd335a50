import { test } from "node:test";
import { playMachines } from "./machines/story.ts";

/** SEEDS stories of two machines, from FROM on. */

const SEEDS = Number(process.env["SEEDS"] ?? 50_000);
const FROM = Number(process.env["FROM"] ?? 1);

test(`${SEEDS} stories of two machines: what was answered is in the record once`, (t) => {
  let [answered, handed] = [0, 0];
  for (let seed = FROM; seed < FROM + SEEDS; seed++) {
    const told = playMachines(seed);
    answered += told.answered;
    handed += told.handed;
  }
  t.diagnostic(`${answered} answered, at least ${handed} handed over`);
});
