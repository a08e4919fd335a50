import { alertmanagerImporter } from "./alertmanager/alertmanager.ts";
import { fromGoAlert } from "./goalert/goalert.ts";
import type { Importer } from "./importer.ts";
import { fromOnCall } from "./oncall/oncall.ts";
import { fromOpsgenie } from "./opsgenie/opsgenie.ts";
import { fromPagerDuty } from "./pagerduty/pagerduty.ts";

/** All systems that can be imported. A new one is a file or folder of its own and an entry here. */
export const importers: readonly Importer[] = [
  alertmanagerImporter,
  fromPagerDuty,
  fromOpsgenie,
  fromGoAlert,
  fromOnCall,
];
