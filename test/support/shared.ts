import { basename, join } from "node:path";

/** Where the test files of one run of the suite find what they share: made by `setup.ts`, taken by `preload.ts`. */
export const shared = process.env["BOX_TEST_SHARED"];

/** Packages of a hundred small files, which are read as one. */
export const PACKAGES: ReadonlySet<string> = new Set([
  "drizzle-orm",
  "drizzle-orm/better-sqlite3",
  "drizzle-orm/sqlite-core",
  "hono",
  "hono/utils/mime",
  "hono/ws",
  "zod",
]);

export const packageFile = (directory: string, name: string): string =>
  join(directory, `${name.replaceAll("/", "_")}.mjs`);

export const programFileIn = (directory: string): string => join(directory, "box.cjs");

/** The bundle of a thread's program, `src/records/reports/render-worker.ts`. */
export const threadFileIn = (directory: string, source: string): string =>
  join(directory, "threads", `${basename(source, ".ts")}.cjs`);
