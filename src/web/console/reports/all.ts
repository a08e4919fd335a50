import type { Screen } from "../screen.ts";
import { newReportScreen } from "./create.ts";
import { editorScreen } from "./editor.ts";
import { reportsScreen } from "./list.ts";

/** Reports for people outside. */
export const reportScreens: readonly Screen[] = [reportsScreen, newReportScreen, editorScreen];
