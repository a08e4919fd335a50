import type { Files } from "./shell.ts";

export interface Assets extends Files {
  /** null: there is no such file. */
  serve(path: string, acceptEncoding: string | undefined): Response | null;
}

/** The pages' style sheet and script. */
export function assets(): Assets {
  return { style: "/assets/style.css", script: "/assets/main.js", serve: () => null };
}
