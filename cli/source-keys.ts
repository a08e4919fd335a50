import type { Command } from "commander";
import { api, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { readText } from "./files.ts";
import { nounCommands } from "./noun.ts";
import { apiFlags, print } from "./options.ts";
import { when } from "./table.ts";

const keysOf = (project: string, name: string) => v1("projects", project, "sources", name, "keys");

/** `box source keys`, `add-key`, `delete-key`: keys that senders have from an earlier tool. */
export function registerSourceKeys(source: Command): void {
  const key = nounCommands(source, {
    of: "<project> <name>",
    one: "<id>",
    at: ([project = "", name = ""]) => keysOf(project, name),
  });
  key.list<{ id: number; added_at: number }>(
    "list the keys of other systems that a source accepts, by id",
    { ID: ({ id }) => id, ADDED: ({ added_at }) => when(added_at) },
    { name: "keys" },
  );
  apiFlags(source.command("add-key <project> <name> <file>"))
    .description(
      "accept a key of another system for this source, so that its sender need not change (- for standard input)",
    )
    .action(async (project: string, name: string, file: string, options: ApiOptions) => {
      const key = (await readText(file)).trim();
      const answer = await api.post<{ id: number }>(options, keysOf(project, name), { key });
      print(answer, options, () => `added ${answer.id}`);
    });
  key.delete("remove a key of another system from a source, by its id", "delete-key");
  const secretOf = (project: string, name: string) =>
    v1("projects", project, "sources", name, "secret");
  apiFlags(source.command("secret <project> <name> [file]"))
    .description(
      "set the secret that the sender signs with (- for standard input); unsigned requests are then refused",
    )
    .option("--remove", "remove the secret: signatures are no longer checked")
    .action(
      async (
        project: string,
        name: string,
        file: string | undefined,
        options: ApiOptions & { remove?: true },
      ) => {
        const place = secretOf(project, name);
        const answer = options.remove
          ? await api.delete<object>(options, place)
          : await api.put<object>(options, place, {
              secret: (await readText(file ?? "-")).trim(),
            });
        print(answer, options, () =>
          options.remove ? "not signed any more" : "signed from now on",
        );
      },
    );
}
