import { switchChannel } from "../../core/alerts/switch-channel.ts";
import { type Integration, USUAL_STORM } from "../../core/projects/integration.ts";
import type { Guard } from "../../core/projects/integration-input.ts";
import {
  changeIntegration,
  createIntegration,
  type IntegrationWrite,
} from "../../core/projects/integrations.ts";
import type { Project } from "../../core/projects/projects.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { MintedSecret } from "./applied.ts";
import { at } from "./pointer.ts";
import { ownIntegrations } from "./read.ts";
import type { IntegrationConfig, Secret } from "./shape.ts";

/** Makes and changes the wanted channels. `kept`: their ids; all other channels aren't wanted any more. */
export function applyIntegrations(
  tx: Tx,
  project: Project,
  { wanted, guard }: { wanted: readonly IntegrationConfig[]; guard: Guard },
): { kept: ReadonlySet<string>; minted: MintedSecret[] } {
  const pairs = match(wanted, ownIntegrations(tx, project));
  const kept = new Set<string>();
  const minted: MintedSecret[] = [];
  for (const [i, { config, row }] of pairs.entries()) {
    const write = channelOf(config, guard);
    const id = at(`/config/integrations/${i}`, () => {
      if (row !== null) {
        changeIntegration(tx, project, { id: row.id, write, guard });
        return row.id;
      }
      const made = createIntegration(tx, project, { type: config.type, write, guard });
      if (made.isMinted && made.secret !== null)
        minted.push({ id: made.id, name: config.name, url: made.url, secret: made.secret });
      return made.id;
    });
    if (config.enabled !== (row?.enabled ?? true))
      switchChannel(tx, project, { id, enabled: config.enabled });
    kept.add(id);
  }
  return { kept, minted };
}

interface Pair {
  config: IntegrationConfig;
  row: Integration | null;
}

/**
 * Pairs wanted channels with existing ones. Names may be shared and empty, so the pairs with no visible difference come
 * first, and applying twice changes nothing; then pairs with the same address; then the same name and type, oldest
 * first.
 */
function match(wanted: readonly IntegrationConfig[], rows: readonly Integration[]): Pair[] {
  const free = new Set(rows);
  const pairs: Pair[] = wanted.map((config) => ({ config, row: null }));
  const sameAddress = ({ url }: IntegrationConfig, row: Integration) =>
    url === undefined || url === row.url;
  const same = (config: IntegrationConfig, row: Integration) =>
    sameAddress(config, row) &&
    config.enabled === row.enabled &&
    config.events.toSorted().join() === row.event_filter.split(",").toSorted().join();
  const passes = [same, sameAddress, () => true];
  for (const fits of passes)
    for (const pair of pairs) {
      if (pair.row !== null) continue;
      const { config } = pair;
      const isIt = (row: Integration) =>
        row.name === config.name && row.type === config.type && fits(config, row);
      pair.row = [...free].find(isIt) ?? null;
      if (pair.row !== null) free.delete(pair.row);
    }
  return pairs;
}

/** A channel as it is written. */
export function channelOf(config: IntegrationConfig, { channels }: Guard): IntegrationWrite {
  const { name, type, url, enabled: _on, events, storm_threshold, ...given } = config;
  const { imported_from: _from, ...others } = given;
  const { title_template, body_template, shared, except, ...secrets } = others;
  const usual = channels.find(type)?.isChat ? USUAL_STORM : undefined;
  const texts = Object.entries(secrets).map(([field, secret]) => [field, textOf(secret)]);
  return {
    name,
    events,
    texts: { title_template, body_template },
    stormThreshold: storm_threshold ?? usual,
    sharing: { shared, except },
    credentials: { url, ...Object.fromEntries(texts) },
  };
}

/** undefined: the stored value stays. */
export function textOf(secret: Secret | undefined): string | undefined {
  return secret === undefined || secret === "kept" ? undefined : secret.value;
}
