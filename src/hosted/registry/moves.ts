import { hexId } from "../../ground/kit/ids.ts";
import type { Random } from "../../ground/kit/random.ts";

/**
 * A move of the registry is marked on both sides by one number, so that a try that was killed is known again. `moving`: it
 * was begun from here, and nobody serves until it is known how it ended. `moved`: it went from here. `moved_from`: it came
 * here.
 */
export type MoveMark = "moving" | "moved" | "moved_from";

/** 48 random bits. */
export const newMoveMark = (random: Random): number =>
  Number.parseInt(hexId(random).slice(0, 12), 16);
