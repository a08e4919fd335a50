import type { Screen } from "../screen.ts";
import { silencesScreen } from "./list-screen.ts";
import { newSilenceScreen } from "./new-screen.ts";
import { silenceScreen } from "./silence-screen.ts";

/** What is kept quiet on purpose. */
export const silenceScreens: readonly Screen[] = [silencesScreen, newSilenceScreen, silenceScreen];
