import { asset, assetNames } from "../kit/assets.ts";
import type { StoreKind } from "./database.ts";

export interface Migration {
  /** From 1, without gaps. It is the schema's number after the migration. */
  number: number;
  name: string;
  sql: string;
}

type Kind = StoreKind | "postgres";

/** Read once: an opening asks three times, and they stay what they are while the program runs. */
const known = new Map<Kind, readonly Migration[]>();

/** The numbered migrations of one kind of store, or of the PostgreSQL registry, in order. */
export function migrations(kind: Kind): readonly Migration[] {
  return known.getOrInsertComputed(kind, () => read(kind));
}

function read(kind: Kind): Migration[] {
  return assetNames(`migrations/${kind}`).map((path, index) => {
    const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.sql$/, "");
    if (Number(name.slice(0, 4)) !== index + 1)
      throw new Error(`migration ${path} is out of order`);
    return { number: index + 1, name, sql: asset(path) };
  });
}
