import { pagedNow } from "../../../core/alerts/paged-now.ts";
import { displayNameOf } from "../../../core/alerts/said.ts";
import type { PageCall } from "../screen.ts";
import { counted } from "./pieces.ts";
import { timeOnClock } from "./times.ts";

/** What became of the pages of these alerts, which somebody has just asked for: how a sentence about it ends. */
export function pagedWords(call: PageCall, ids: readonly string[]): string {
  const { store } = call.tenant;
  const told = ids.map((id) => ({ id, ...pagedNow(store, Number(id)) }));
  const names = (accounts: readonly string[]) =>
    [...new Set(accounts)].map((account) => displayNameOf(store, account)).join(", ");
  const paged = names(told.flatMap((one) => one.paged));
  const unreached = names(told.flatMap((one) => one.unreached));
  const inChannels = told.some((one) => one.inChannels);
  const held = told.filter((one) => one.held !== null);
  const ends = held.flatMap(({ held }) => held?.until ?? []);
  const until = ends.length === 0 ? "" : `, until ${timeOnClock(call, Math.max(...ends))}`;
  return [
    paged === "" ? "." : `, and paged ${unreached === "" ? "them" : paged} now.`,
    unreached !== "" && ` Nothing of theirs reaches ${unreached}`,
    unreached !== "" && (inChannels ? ": only the channels are notified." : "."),
    held.length > 0 &&
      ` Nobody is paged for ${nameThem(held.map(({ id }) => id))} while silenced${until}.`,
  ]
    .filter(Boolean)
    .join("");
}

export const nameThem = (ids: readonly string[]): string =>
  ids.length === 1 ? `#${ids[0]}` : counted(ids.length, "alert");
