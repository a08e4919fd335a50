import { fileAddress, ownFiles, ownHash } from "./scope.ts";

/* The console's own files, by what is in them: a version is whole or isn't there. */

const PREFIX = "files-";
const OWN = PREFIX + ownHash;

export async function keepFiles(): Promise<void> {
  await (await caches.open(OWN)).addAll(ownFiles.map(fileAddress));
}

/** Those of other versions: pages that are kept are shown with what there is now. */
export async function dropOldFiles(): Promise<void> {
  for (const name of await caches.keys())
    if (name.startsWith(PREFIX) && name !== OWN) await caches.delete(name);
}

export async function answerFile(request: Request): Promise<Response> {
  return (await caches.match(request, { cacheName: OWN })) ?? fetch(request);
}
