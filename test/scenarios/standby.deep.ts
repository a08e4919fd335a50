import { postgresTest } from "../support/postgres.ts";
import { type Blow, standbyStory } from "./standby.ts";

/**
 * Every blow to two machines of one box, and many: ROUNDS of them all. LINKED=1: senders know only who stands by. MIB: how
 * large the store is.
 */

const ROUNDS = Number(process.env["ROUNDS"] ?? 4);
const ALL = (process.env["BLOWS"]?.split(",") ?? [
  "SIGKILL",
  "SIGSTOP",
  "SIGTERM",
  "SIGTERM beside a new one",
  "power off",
  "owner cut",
  "standby cut",
  "both cut",
]) as Blow[];

postgresTest("whatever befalls two machines, nothing that was answered is lost", (t) =>
  standbyStory(t, Array.from({ length: ROUNDS }, () => ALL).flat(), {
    isLinked: process.env["LINKED"] === "1",
    mib: Number(process.env["MIB"] ?? 0),
  }),
);
