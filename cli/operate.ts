import type { Command } from "commander";
import { systemClock } from "../src/ground/kit/clock.ts";
import type { FlagsGiven } from "../src/ground/kit/flags.ts";
import type { Restored } from "../src/records/backup/restore.ts";
import type { Taken } from "../src/records/backup/take.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { registerLook } from "./look.ts";
import { addFlags, dataFlag, jsonFlag, print } from "./options.ts";
import { table, when } from "./table.ts";

const storeFlags = {
  ...dataFlag,
  "--store <name>": { about: "box.db, hosted.db or tenants/<tenant id>.db", usual: "box.db" },
  ...jsonFlag,
};

const backupFlags = {
  ...storeFlags,
  "--replace": "overwrite FILE if it exists; never a file of a data directory",
  "--with-key": "write the keys that encrypt secrets to FILE.key, too",
};

const restoreFlags = {
  ...storeFlags,
  "--replace": "keep the existing files aside and replace them",
  "--pending <what>": {
    about:
      "pages that waited when the backup was made: keep, drop, or auto (keep those that can't have arrived)",
    usual: "auto",
  },
};

/** Backup and restore on the data directory, and the box's state. */
export function registerOperate(program: Command): void {
  registerLook(program);
  addFlags(program.command("backup <file>"), backupFlags)
    .description("write a copy of the storage and check it by a restore, also while the box serves")
    .action(backup);
  addFlags(program.command("verify <file>"), jsonFlag)
    .description(
      "check a backup against its FILE.json: hash, every database page, references, counts",
    )
    .action(verify);
  addFlags(program.command("restore <file>"), restoreFlags)
    .description(
      "restore a backup into an empty data directory, or over a stopped box; alerts that were open then are open again",
    )
    .action(restore);
}

async function backup(file: string, options: FlagsGiven<typeof backupFlags>): Promise<void> {
  const [{ backUp }, { placeOf }] = await Promise.all([
    import("../src/app/offline/backup.ts"),
    import("../src/records/backup/place.ts"),
  ]);
  const place = placeOf(options.data, options.store);
  const { withKey = false, replace = false } = options;
  const taken = await backUp({ place, file, withKey, replace, clock: systemClock });
  print(taken, options, () => takenText(taken));
}

function takenText(taken: Taken): string {
  return table(
    ["BACKUP", taken.file],
    [
      ["size", `${taken.size} bytes`],
      ["sha256", taken.sha256],
      ["schema", taken.schema],
      ["checked", when(taken.proved_at)],
      ["keys", taken.key_file ?? "not in it: keep the key file of the data directory, too"],
    ],
  );
}

async function verify(file: string, options: { json?: boolean }): Promise<void> {
  const { verifyBackup } = await import("../src/records/backup/verify.ts");
  const manifest = verifyBackup(file);
  print({ ok: true, file, ...manifest }, options, () =>
    [
      `${file} is whole: ${manifest.size} bytes of ${when(manifest.taken_at)}, schema ${manifest.schema}`,
      table(["TABLE", "ROWS"], Object.entries(manifest.counts)),
    ].join("\n"),
  );
}

async function restore(file: string, options: FlagsGiven<typeof restoreFlags>): Promise<void> {
  const [{ restoreBackup }, { placeOf }] = await Promise.all([
    import("../src/records/backup/restore.ts"),
    import("../src/records/backup/place.ts"),
  ]);
  const { pending } = options;
  if (pending !== "auto" && pending !== "keep" && pending !== "drop")
    throw new CommandError("--pending must be keep, drop or auto", exitCodes.usage);
  const restored = restoreBackup({
    place: placeOf(options.data, options.store),
    file,
    replace: options.replace ?? false,
    pending,
    clock: systemClock,
  });
  print(restored, options, () => restoredText(restored));
}

function restoredText({ store, manifest, kept_aside, keys, pending }: Restored): string {
  const lines = [
    `restored ${store} as of ${when(manifest.taken_at)}`,
    `${pending.kept} pages wait to be sent, ${pending.dropped} were dropped because they may have been sent since`,
  ];
  if (kept_aside !== null) lines.push(`the replaced files are in ${kept_aside}`);
  lines.push(
    keys
      ? "the keys of the backup are in place"
      : "the backup holds no keys: stored credentials need the key file of that time",
  );
  return lines.join("\n");
}
