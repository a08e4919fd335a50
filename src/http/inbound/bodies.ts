import { TooLarge } from "./inflate.ts";

/** Too many bodies at once. */
export class NoRoom extends Error {}
/** The client went away in the middle. */
export class BrokeOff extends Error {}

/** Reads bodies, and knows how much of them is in memory. */
export interface Bodies {
  /**
   * The body, at most `most` bytes, held for `owner` until `release` is called. Throws TooLarge, NoRoom, BrokeOff,
   * all of them with nothing held.
   */
  read(
    request: Request,
    of: { owner: string; most: number },
  ): Promise<{ body: Buffer; release(): void }>;
}

/** Holds at most `all` bytes at once, over all owners, and `each` of one. */
export function createBodies(most: { all: number; each: number }): Bodies {
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
    async read(request, { owner, most: longest }) {
      if (Number(request.headers.get("content-length") ?? 0) > longest) throw new TooLarge();
      const chunks: Uint8Array[] = [];
      let size = 0;
      const release = () => {
        hold(owner, -size);
        size = 0;
      };
      try {
        for await (const chunk of request.body ?? []) {
          size += chunk.byteLength;
          const fits = hold(owner, chunk.byteLength);
          if (size > longest) throw new TooLarge();
          if (!fits) throw new NoRoom();
          chunks.push(chunk);
        }
        return { body: Buffer.concat(chunks), release };
      } catch (error) {
        release();
        if (error instanceof TooLarge || error instanceof NoRoom) throw error;
        throw new BrokeOff();
      }
    },
  };
}
