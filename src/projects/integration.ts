import { z } from "zod";
import { list } from "../kit/fields.ts";
import { eventKinds } from "../outbox/event.ts";

/** An integration's fields as they are written and read over the interface (contract §13, Integration). */

/** Kinds that a channel subscribes to; none = every kind (contract §17, rule 4). */
export const integrationEvents = list(
  z.enum(eventKinds, { error: `must be one of ${eventKinds.join(", ")}` }),
  16,
);
