import { loadKeyRing } from "../../ground/kit/key-ring.ts";
import { isLocked } from "../../ground/store/lock.ts";
import { failedUpgrade, readMark } from "../../ground/store/record/mark.ts";
import type { Health } from "../../tenant/health.ts";
import type { BoxRole } from "../../web/http/role.ts";
import { askBox } from "./ask.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import type { Directory } from "./status.ts";

/** Of a directory with a database: why the box, taken here last, couldn't be upgraded. */
export function upgradeFindings(data: string): Finding[] {
  const why = failedUpgrade(readMark(data));
  if (why === null) return [];
  return [
    wrong(
      "upgrade",
      `the box couldn't be upgraded here: ${why}`,
      "set that right: it is tried again by itself; or install the older program again",
    ),
  ];
}

/** Where a data directory is that of a machine that stands by: how it does. Else null. */
export async function standbyFindings({ data, clock }: Directory): Promise<Finding[] | null> {
  const at = readMark(data)?.standsBy ?? null;
  if (at === null) return null;
  const key =
    loadKeyRing(data, "box.key").ring === null
      ? wrong("key", "there is none", "copy box.key and box.key.* from the other machine")
      : ok("key", "there is one");
  if (!isLocked(data))
    return [
      key,
      ...upgradeFindings(data),
      note("service", "this machine stood by, and isn't running: systemctl start box"),
    ];
  const role = (await askBox(clock, `${at}/v1/role`)) as BoxRole | null;
  const health = (await askBox(clock, `${at}/readyz`)) as Health | null;
  if (role === null || health === null)
    return [key, wrong("service", `it doesn't answer at ${at}`, "look at its log; restart it")];
  const owner = role.owner === null ? "nobody serves the box now" : `${role.owner} serves the box`;
  return [
    key,
    ok("service", `this machine stands by at ${at}: ${owner}`),
    ...(role.upgrade_failed ? upgradeFindings(data) : []),
    ...health.checks.map(({ name, ok: isWell, detail }) =>
      isWell ? ok(name, detail) : wrong(name, detail, "see the log of the box"),
    ),
  ];
}
