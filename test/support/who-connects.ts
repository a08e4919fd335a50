import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Which of the processes has the TCP connection that goes out from this port; null: none, or this isn't Linux. */
export function whoConnects(port: number, pids: readonly number[]): number | null {
  const from = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const inodes = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local]) => local?.endsWith(from))
      .map((fields) => `socket:[${fields[9]}]`),
  );
  return pids.find((pid) => handles(pid).some((handle) => inodes.includes(handle))) ?? null;
}

/** What the open files of a process are. */
function handles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    // It is gone, or one of its files is.
    return [];
  }
}
