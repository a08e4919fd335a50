import type { Screen } from "../screen.ts";
import { connectScreen } from "../sources/connect.ts";
import { sourceScreen } from "../sources/source.ts";
import { projectsScreen } from "./list.ts";
import { projectScreen } from "./screen.ts";

/** Pages of projects, their sources, lines, channels and actions. */
export const projectScreens: readonly Screen[] = [
  ...[projectsScreen, projectScreen, connectScreen, sourceScreen],
];
