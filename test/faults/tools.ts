import { spawnSync } from "node:child_process";

/**
 * Why a test can't run here: false, or a sentence for `skip`. In CI, which installs the tools, a missing
 * one is a failure and no skip.
 */
export function without(...tools: string[]): string | false {
  if (process.platform !== "linux") return "needs Linux";
  const missing = tools.filter((tool) => spawnSync(tool, ["--version"]).error !== undefined);
  if (missing.length === 0 || process.env["CI"]) return false;
  return `needs ${missing.join(" and ")}`;
}
