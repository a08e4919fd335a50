import { test } from "node:test";
import { findsWhatWasPlanted } from "./look.ts";

test("of twenty situations that were planted in a month and twenty that look like them each is told apart", (t) =>
  findsWhatWasPlanted(t, null, { first: 6, days: 33 }));
