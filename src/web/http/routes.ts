import { madeOnce } from "../../ground/kit/made-once.ts";
import { type ChannelList, channels } from "../../out/services/list.ts";
import * as resources from "./resources/list.ts";
import type { Route } from "./route.ts";

/** Every schema-checked route of the data plane for these kinds of channel (contract §15). */
export const dataPlaneRoutesOf = madeOnce(
  (kinds: ChannelList): readonly Route[] =>
    Object.values(resources).flatMap((routes) =>
      typeof routes === "function" ? routes(kinds) : routes,
    ),
  (kinds) => kinds,
);

/** Those of the program's own kinds. */
export const dataPlaneRoutes = dataPlaneRoutesOf(channels);
