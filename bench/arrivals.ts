import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A receiver on loopback that answers at once; `note` hears of each body, its path, and when its first byte came. */
export async function arrivals<T>(note: (body: T, path: string, at: number) => void) {
  const receiver = createServer((request, response) => {
    const at = performance.now();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.end();
      note(JSON.parse(Buffer.concat(chunks).toString()) as T, request.url ?? "", at);
    });
  });
  await new Promise<void>((ready) => receiver.listen(0, "127.0.0.1", ready));
  return {
    url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
    close() {
      receiver.close();
      receiver.closeAllConnections();
    },
  };
}
