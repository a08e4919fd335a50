import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

function isThere(command: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** For a test that runs commands which a bare machine may lack: it is skipped there, and says for want of what. */
export function needs(...commands: string[]): { skip: string | false } {
  const missing = commands.filter((command) => !isThere(command));
  return { skip: missing.length === 0 ? false : `not on this machine: ${missing.join(", ")}` };
}
