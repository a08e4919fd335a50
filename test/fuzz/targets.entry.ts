/** What the fuzzer loads: each target by its name. */
export * from "./builders.ts";
export * from "./parsers.ts";
