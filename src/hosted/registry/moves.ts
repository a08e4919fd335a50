import { hexId } from "../../ground/kit/ids.ts";
import type { Random } from "../../ground/kit/random.ts";

/**
 * A move of the registry is marked on both sides with one number, so that a later run recognises it. `moving`: begun
 * from here, and nobody serves until its end is known. `moved`: it went from here. `moved_from`: it came here.
 */
export type MoveMark = "moving" | "moved" | "moved_from";

/** 48 random bits. */
export const newMoveMark = (random: Random): number =>
  Number.parseInt(hexId(random).slice(0, 12), 16);
