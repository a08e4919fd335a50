import type { Screen } from "./screen.ts";
import * as list from "./screen-list.ts";

export const screens: readonly Screen[] = Object.values(list);
