import { sameSecret } from "../../ground/kit/ids.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";

/** Links by which one person answers one ask for cover. They end with the ask, which its row says. */

export const COVER = "/cover";
const PURPOSE = "cover";

interface CoverRight {
  tenantId: string;
  askId: string;
  accountId: string;
}

const signed = ({ tenantId, askId, accountId }: CoverRight): string =>
  JSON.stringify([tenantId, askId, accountId]);

/** `{tenant}{ask}{account}-{signature}`. */
export function coverCapability(sealer: Sealer, right: CoverRight): string {
  const { tenantId, askId, accountId } = right;
  return `${tenantId}${askId}${accountId}-${sealer.macs(PURPOSE, signed(right))[0]}`;
}

const COVERS = /^([0-9a-f]{16})([0-9a-f]{16})([0-9a-f]{16})-([\w-]{22})$/;

/** What a link was given out for, under any key of the ring; null for any other text. */
export function readCover(sealer: Sealer, text: string): CoverRight | null {
  const [, tenantId = "", askId = "", accountId = "", mac = ""] = COVERS.exec(text) ?? [];
  const right = { tenantId, askId, accountId };
  const isOurs = sealer.macs(PURPOSE, signed(right)).map((each) => sameSecret(each, mac));
  return mac !== "" && isOurs.includes(true) ? right : null;
}
