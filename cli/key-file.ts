import type { Command } from "commander";
import { systemClock } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { type OfflineOptions, offlineFlags, print } from "./options.ts";

/** The keys of stored credentials, in the data directory. */
export function registerKeyFile(program: Command): void {
  const keyFile = program
    .command("key-file")
    .description("the keys that encrypt stored credentials");
  offlineFlags(keyFile.command("rotate"))
    .description("make a new key and encrypt everything stored with it; old keys stay in the file")
    .action(rotate);
  offlineFlags(keyFile.command("add <file>"))
    .description("add an old key file, so that values encrypted with it can be read again")
    .action(add);
}

async function desk({ data }: OfflineOptions) {
  const [{ addKeyFile }, { atDesk }] = await Promise.all([
    import("../src/app/offline/key-file.ts"),
    import("../src/app/offline/desk.ts"),
  ]);
  return { addKeyFile, atDesk, at: { data, clock: systemClock, random: systemRandom } };
}

async function rotate(options: OfflineOptions): Promise<void> {
  const { atDesk, at } = await desk(options);
  const done = await atDesk(at, "key-file rotate");
  const left =
    done.unreadable === 0 ? "" : `; ${done.unreadable} can't be opened and stay as they are`;
  print(done, options, () => `key ${done.key_id}: ${done.resealed} values sealed under it${left}`);
}

async function add(file: string, options: OfflineOptions): Promise<void> {
  const { addKeyFile, at } = await desk(options);
  const done = addKeyFile(at, file);
  const rest = done.unreadable?.map(({ name }) => `still unreadable: ${name}`) ?? [
    "another machine has the box's present storage: box doctor there names what can't be read",
  ];
  print(done, options, () => [`added ${done.key_ids.join(", ")}`, ...rest].join("\n"));
}
