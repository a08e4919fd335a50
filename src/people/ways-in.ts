import type { Egress } from "../ground/kit/egress.ts";
import type { Reader } from "../ground/store/store.ts";
import { type Challenges, createChallenges } from "./challenges.ts";
import { createProviderClient, type ProviderClient } from "./oidc/client.ts";
import { createFlows, type Flows } from "./oidc/flows.ts";
import { createPhoneLinks, type PhoneLinks } from "./phone-links.ts";

/** What sign-ins remember between requests: only in memory, for minutes, and bounded. */
export interface WaysIn {
  challenges: Challenges;
  phones: PhoneLinks;
  flows: Flows;
  providers: ProviderClient;
}

export const createWaysIn = (reader: Reader, egress: Egress): WaysIn => ({
  challenges: createChallenges(reader.clock, reader.random),
  phones: createPhoneLinks(reader),
  flows: createFlows(reader.clock, reader.random),
  providers: createProviderClient(egress, reader.clock),
});
