/*
 * What the worker remembers: the browser's own store of answers holds it, each record as JSON at an address of its own that nobody
 * asks for. One store to empty, and none besides.
 */
const STORE = "records";

const addressOf = (key: string): string => `/-/${key}`;

export async function putRecord(key: string, value: object): Promise<void> {
  const store = await caches.open(STORE);
  await store.put(addressOf(key), new Response(JSON.stringify(value)));
}

/** null where there is none. */
export async function getRecord<T>(key: string): Promise<T | null> {
  const found = await caches.match(addressOf(key), { cacheName: STORE });
  return found === undefined ? null : ((await found.json()) as T);
}

export async function dropRecord(key: string): Promise<void> {
  if (await caches.has(STORE)) await (await caches.open(STORE)).delete(addressOf(key));
}

/** All whose key begins so, by key. */
export async function listRecords<T>(prefix: string): Promise<[key: string, value: T][]> {
  if (!(await caches.has(STORE))) return [];
  const store = await caches.open(STORE);
  const found: [string, T][] = [];
  for (const { url } of await store.keys()) {
    const key = new URL(url).pathname.slice(addressOf("").length);
    const value = key.startsWith(prefix) ? await getRecord<T>(key) : null;
    if (value !== null) found.push([key, value]);
  }
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}
