import { ImportFault } from "../given-file.ts";
import { fieldAt, fileOf, type LiveReader } from "../live.ts";

export const liveAlertmanager: LiveReader = {
  headers: null,
  *files() {
    const status = yield { path: "/api/v2/status" };
    const text = fieldAt(status, "config", "original");
    if (typeof text !== "string") throw new ImportFault("its status has no configuration");
    return [
      { name: "alertmanager.yml", text },
      fileOf("silences.json", yield { path: "/api/v2/silences" }),
    ];
  },
};
