import assert from "node:assert/strict";
import { test } from "node:test";
import { Siblings } from "../../../src/core/alerts/apart.ts";
import type { AlertLabels } from "../../../src/core/alerts/label-book.ts";
import { NO_LABELS, withKeys } from "../../../src/core/alerts/labels.ts";
import fc from "../../support/property.ts";

/** Which labels tell an alert from the others of its rule. */

const name = fc.constantFrom("host", "zone", "service", "constructor", "7");
const keys = fc.dictionary(name, fc.constantFrom("a", "b"), { noNullPrototype: false });
const labels = fc
  .array(keys, { minLength: 1, maxLength: 3 })
  .map((events) => events.reduce((known: AlertLabels, of) => withKeys(known, of, []), NO_LABELS));

const valuesOf = ({ labels, varied }: AlertLabels, of: string) =>
  Object.hasOwn(varied, of)
    ? new Set(varied[of])
    : new Set(labels[of] === undefined ? [] : [labels[of]]);

test("three of those that another alert lacks or has with other values, identifiers first", () => {
  fc.assert(
    fc.property(
      fc.array(labels, { maxLength: 5 }),
      labels,
      fc.subarray(["zone", "host"]),
      (others, own, identifiers) => {
        const siblings = new Siblings();
        for (const [i, of] of others.entries()) siblings.add(i, of);
        const outside = siblings.apart(99, own, identifiers);
        siblings.add(99, own);
        const inside = siblings.apart(99, own, identifiers);
        const names = Object.keys(own.labels);
        const order = [
          ...identifiers.filter((of) => names.includes(of)),
          ...names.filter((of) => !identifiers.includes(of)),
        ];
        const differing = order.filter((of) =>
          others.some(
            (other) => valuesOf(other, of).symmetricDifference(valuesOf(own, of)).size > 0,
          ),
        );
        const expected = differing.slice(0, 3).map((of) => ({ name: of, value: own.labels[of] }));
        assert.deepEqual(inside, expected);
        assert.deepEqual(outside, expected);
      },
    ),
  );
});
