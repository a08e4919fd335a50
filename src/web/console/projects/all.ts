import { actionsScreen } from "../actions/screen.ts";
import { channelScreen } from "../channels/channel.ts";
import { deliveryScreen } from "../channels/delivery.ts";
import { channelsScreen } from "../channels/list.ts";
import { configScreen } from "../config/screen.ts";
import { tailScreen } from "../lines/tail.ts";
import { templatesScreen } from "../lines/templates.ts";
import type { Screen } from "../screen.ts";
import { connectScreen } from "../sources/connect.ts";
import { sourceScreen } from "../sources/source.ts";
import { projectsScreen } from "./list.ts";
import { projectScreen } from "./screen.ts";

/** Pages of projects, their sources, lines, channels and actions. */
export const projectScreens: readonly Screen[] = [
  projectsScreen,
  projectScreen,
  connectScreen,
  sourceScreen,
  tailScreen,
  templatesScreen,
  configScreen,
  channelsScreen,
  channelScreen,
  deliveryScreen,
  actionsScreen,
];
