import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hexId } from "../../ground/kit/ids.ts";
import type { Random } from "../../ground/kit/random.ts";
import { StoreFault } from "../../ground/store/faults.ts";
import { syncDirectory, writeSynced } from "../../ground/store/files.ts";
import { hostedFiles } from "../files.ts";

/** Whether a text can be a node's name, which is part of every hold that the node takes. */
export const isNodeName = (text: string): boolean => /^[\w.-]{1,64}$/.test(text);

/** The node's name in a data directory, created once. Throws StoreFault where the file holds none. */
export function nodeNameOf(data: string, random: Random): string {
  const path = join(data, hostedFiles.node);
  if (!existsSync(path)) {
    writeSynced(path, `${hexId(random)}\n`);
    syncDirectory(data);
  }
  const name = readFileSync(path, "utf8").trim();
  if (isNodeName(name)) return name;
  throw new StoreFault("misconfigured", `${path} holds no node's name: remove it, or use --node.`);
}
