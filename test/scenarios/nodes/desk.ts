import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { type OfflineRegistry, withHosted } from "../../../src/app/offline/hosted.ts";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";

/** What the operator does for a box. */
export type Desk = Pick<OfflineRegistry, "setApns" | "addTenant" | "addAccount" | "addSession">;

/** Without a process for each. */
export function deskHere(database: string, hostedKey: string): Desk {
  const how = { data: dirname(hostedKey), clock: systemClock, random: systemRandom };
  const use = <T>(work: (desk: OfflineRegistry) => Promise<T>) =>
    withHosted({ ...how, database, hostedKey }, work);
  return {
    setApns: (flags) => use((desk) => desk.setApns(flags)),
    addTenant: (flags) => use((desk) => desk.addTenant(flags)),
    addAccount: (email) => use((desk) => desk.addAccount(email)),
    addSession: (email) => use((desk) => desk.addSession(email)),
  };
}

/** By the commands of a program. */
export function deskBy(program: string, where: readonly string[]): Desk {
  const run = async (...words: string[]) => {
    const all = [program, "hosted", ...words, "--json", ...where];
    return JSON.parse((await promisify(execFile)(process.execPath, all)).stdout);
  };
  return {
    setApns: ({ keyFile, ca, keyId, teamId, topic, endpoint }) =>
      run(
        "apns",
        "set",
        "--key-file",
        keyFile,
        "--ca",
        ca ?? "",
        "--key-id",
        keyId,
        "--team-id",
        teamId,
        "--topic",
        topic,
        "--endpoint",
        endpoint ?? "",
      ),
    addTenant: ({ kind = "box" }) => run("tenant", "add", "--kind", kind),
    addAccount: (email) => run("account", "add", "--email", email),
    addSession: (email) => run("session", "add", "--email", email),
  };
}
