import * as z from "zod";
import type { Addresses } from "../../in/heartbeats/heartbeats.ts";
import { type ChannelList, channels } from "../../out/services/list.ts";
import { ladderEnd } from "./ladders-end.ts";
import { projectConfigOf } from "./shape.ts";

/** What becomes of a project when a configuration is applied: as the interface answers it. */

/** `source` for `sources`: the lists of a configuration in its order. */
export const changeKinds = Object.keys(projectConfigOf(channels).shape)
  .filter((many) => !many.startsWith("imported"))
  .map(kindOf);

export function kindOf(many: string): string {
  return many.replace(/s$/, "");
}

const change = z.object({
  kind: z.enum(changeKinds),
  name: z.string(),
  change: z.enum(["create", "update", "delete"]),
  was: z.string().optional().meta({
    description:
      "Of a part that has another name now: the one before. A rule takes the same events, and keeps its alerts.",
  }),
});

export type Change = z.output<typeof change>;

const kept = z.object({
  kind: z.enum(changeKinds),
  name: z.string(),
  why: z.enum(["changed_here", "made_here", "vanished"]).meta({
    description:
      "changed_here: by hand since the last import; made_here: a part of this name was made by hand; vanished: the other system has it no more.",
  }),
});

/** A part that stays as it is here, and why. */
export type KeptPart = z.output<typeof kept>;

const shown = z.string().meta({ description: "Shown this once." });

/** A secret that was generated for a webhook. */
const mintedSecret = z.object({ id: z.string(), name: z.string(), url: z.string(), secret: shown });
export type MintedSecret = z.output<typeof mintedSecret>;

export const appliedAnswer = (kinds: ChannelList) =>
  z.object({
    version: z.int(),
    changes: z.array(change),
    ladders_end: z.array(ladderEnd).meta({
      description: "Rules with alerts for which nobody is paged any more with this.",
    }),
    kept: z.array(kept).meta({
      description: "Parts that an import left as they are, sorted by kind.",
    }),
    tokens: z.array(z.object({ name: z.string(), token: shown })),
    secrets: z.array(mintedSecret),
    heartbeats: z.array(z.object({ name: z.string(), ping_url: shown, uuid: shown })),
    config: projectConfigOf(kinds),
  });
export type AppliedAnswer = z.output<ReturnType<typeof appliedAnswer>>;

/** Before an address is made of what heartbeats have. */
export type Applied = Omit<AppliedAnswer, "heartbeats"> & {
  heartbeats: (Addresses & { name: string })[];
};
