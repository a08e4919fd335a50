import { postgresTest } from "../support/postgres.ts";
import { tableOf } from "./seen-outside.ts";
import { type Blow, standbyStory } from "./standby.ts";

/**
 * Every blow to two machines of one box, ROUNDS times each, on PAIRS of machines side by side; what people and senders saw
 * of each stands in one table. BLOWS: only some of them. MIB: how large the store is.
 */

const ROUNDS = Number(process.env["ROUNDS"] ?? 4);
const PAIRS = Math.min(ROUNDS, Number(process.env["PAIRS"] ?? 4));
const ALL = (process.env["BLOWS"]?.split(",") ?? [
  "SIGKILL",
  "SIGSTOP",
  "SIGTERM",
  "SIGTERM beside a new one",
  "power off",
  "owner cut",
  "standby cut",
  "both cut",
  "link cut",
]) as Blow[];
const mib = Number(process.env["MIB"] ?? 0);

postgresTest("whatever befalls two machines, nothing that was answered is lost", async (t) => {
  const pair = (_: unknown, at: number) => {
    const rounds = Math.floor((ROUNDS - at - 1) / PAIRS) + 1;
    const blows = Array.from({ length: rounds }, () => ALL).flat();
    return standbyStory(t, blows, { isLinked: true, mib });
  };
  const seen = await Promise.all(Array.from({ length: PAIRS }, pair));
  t.diagnostic(tableOf(seen.flat()));
});
