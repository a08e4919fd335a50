import type { Reader } from "../store/store.ts";
import { type Challenges, createChallenges } from "./challenges.ts";
import { createPhoneLinks, type PhoneLinks } from "./phone-links.ts";

/** What ways in remember from one request to the next; in memory alone, for minutes, and bounded. */
export interface WaysIn {
  challenges: Challenges;
  phones: PhoneLinks;
}

export const createWaysIn = (reader: Reader): WaysIn => ({
  challenges: createChallenges(reader.clock, reader.random),
  phones: createPhoneLinks(reader),
});
