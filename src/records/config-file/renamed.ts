import { isDeepStrictEqual } from "node:util";
import type { RuleConfig } from "./shape.ts";

/**
 * Finds renamed rules; returns the old name by the new one. A rule was renamed where one deleted rule and one new rule
 * match the same events, and no other does. Pure.
 */
export function renamedRules(
  present: readonly RuleConfig[],
  wanted: readonly RuleConfig[],
): Map<string, string> {
  const without = (those: readonly RuleConfig[], others: readonly RuleConfig[]) =>
    those.filter(({ name }) => !others.some((one) => one.name === name));
  const [gone, made] = [without(present, wanted), without(wanted, present)];
  const renamed = new Map<string, string>();
  for (const by of [takes, whole])
    for (const one of made) {
      const from = gone.filter((other) => isDeepStrictEqual(by(one), by(other)));
      const to = made.filter((other) => isDeepStrictEqual(by(one), by(other)));
      const [was] = from;
      if (was !== undefined && from.length === 1 && to.length === 1)
        renamed.set(one.name, was.name);
    }
  return renamed;
}

/** The fields that decide what alerts a rule makes. */
const takes = ({ match, conditions, fire_after, identifier_keys }: RuleConfig) => ({
  match,
  conditions,
  fire_after,
  identifier_keys,
});

const whole = ({ name: _name, ...rest }: RuleConfig) => rest;
