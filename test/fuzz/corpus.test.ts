import assert from "node:assert/strict";
import { describe } from "node:test";
import { mutate } from "../network/mutate.ts";
import { inBoth } from "../support/long.ts";
import { seed } from "../support/seed.ts";
import { seeded } from "../support/seeded.ts";
import { names, readCorpus } from "./corpus.ts";
import { targets } from "./targets.ts";

/** What was found once by coverage-guided runs (`fuzz.deep.ts`) stays found. */
describe("fuzzed inputs", () => {
  for (const name of names)
    for (const [as, mutants] of inBoth(5, 150)) {
      as(`${name}: what is kept, and ${mutants} more like it`, () => {
        const target = targets[name];
        assert.ok(target);
        const corpus = readCorpus(name);
        assert.ok(corpus.length > 0, `test/fuzz/corpus/${name}.txt has no inputs`);
        const random = seeded(seed);
        const pick = () => corpus[Math.floor(random() * corpus.length)] ?? Buffer.alloc(0);
        const inputs = [
          ...corpus,
          ...Array.from({ length: mutants }, () =>
            mutate(random, pick(), Buffer.concat([pick(), Buffer.from("a")])),
          ),
        ];
        for (const input of inputs) {
          try {
            target(input);
          } catch (error) {
            throw new Error(`input ${input.toString("base64").slice(0, 2000)} (seed ${seed})`, {
              cause: error,
            });
          }
        }
      });
    }
});
