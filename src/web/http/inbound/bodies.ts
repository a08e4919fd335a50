import { rememberBytes } from "../read-request.ts";
import { TooLarge } from "./inflate.ts";

/** Too many bodies at once. */
export class NoCapacity extends Error {}
/** The client went away in the middle. */
export class BrokeOff extends Error {}

interface HeldBody {
  body: Buffer;
  hold(bytes: number): void;
  release(): void;
}

/** Reads bodies, and knows how much of them is in memory. */
export type Bodies = ReturnType<typeof createBodies>;

/** Holds at most `all` bytes at once, over all owners, and `each` of one. */
export function createBodies(most: { all: number; each: number }) {
  const each = new Map<string, number>();
  let all = 0;
  const hold = (owner: string, bytes: number) => {
    all += bytes;
    const held = (each.get(owner) ?? 0) + bytes;
    if (held <= 0) each.delete(owner);
    else each.set(owner, held);
    return all <= most.all && held <= most.each;
  };
  return {
    /**
     * The body, at most `most` bytes, held for `owner` until `release` is called; `hold` counts what is made of it, too,
     * and throws NoCapacity. Throws TooLarge, NoCapacity, BrokeOff, all of them with nothing held.
     */
    async read(
      request: Request,
      { owner, most: longest }: { owner: string; most: number },
    ): Promise<HeldBody> {
      if (Number(request.headers.get("content-length") ?? 0) > longest) throw new TooLarge();
      const chunks: Uint8Array[] = [];
      let size = 0;
      const holdMore = (bytes: number) => {
        size += bytes;
        if (!hold(owner, bytes)) throw new NoCapacity();
      };
      const release = () => {
        hold(owner, -size);
        size = 0;
      };
      try {
        for await (const chunk of request.body ?? []) {
          if (size + chunk.byteLength > longest) throw new TooLarge();
          holdMore(chunk.byteLength);
          chunks.push(chunk);
        }
        const body = Buffer.concat(chunks);
        rememberBytes(request, body);
        return { body, hold: holdMore, release };
      } catch (error) {
        release();
        if (error instanceof TooLarge || error instanceof NoCapacity) throw error;
        throw new BrokeOff();
      }
    },
  };
}
