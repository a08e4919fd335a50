import * as adapters from "./adapters.ts";
import * as builders from "./builders.ts";
import * as events from "./events.ts";
import * as parsers from "./parsers.ts";

/** A target takes any bytes and throws where something is wrong. */
export type Target = (bytes: Buffer) => void;

export const targets: Readonly<Record<string, Target>> = {
  ...parsers,
  ...builders,
  ...adapters,
  ...events,
};
