import type { Screen } from "../screen.ts";
import { heartbeatsScreen, projectHeartbeatsScreen } from "./list.ts";
import { newHeartbeatScreen } from "./new-screen.ts";
import { heartbeatScreen } from "./screen.ts";

/** Jobs that must report. */
export const heartbeatScreens: readonly Screen[] = [
  heartbeatsScreen,
  projectHeartbeatsScreen,
  newHeartbeatScreen,
  heartbeatScreen,
];
