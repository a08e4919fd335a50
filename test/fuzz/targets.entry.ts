/** What the fuzzer loads: each target by its name. */
export * from "./adapters.ts";
export * from "./builders.ts";
export * from "./parsers.ts";
