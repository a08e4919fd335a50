import type { Screen } from "../screen.ts";
import { layersScreen } from "./layers-screen.ts";
import { scheduleScreen } from "./schedule-screen.ts";
import { oncallScreen } from "./screen.ts";

export const oncallScreens: readonly Screen[] = [oncallScreen, scheduleScreen, layersScreen];
