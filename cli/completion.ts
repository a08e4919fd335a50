import type { Command } from "commander";
import { CommandError, exitCodes } from "./exit.ts";
import { terminal } from "./terminal.ts";

/** For a shell: each command with its sub-commands and flags. */
interface Words {
  path: string;
  words: string[];
}

export function registerCompletion(program: Command): void {
  program
    .command("completion <shell>")
    .description("print a completion script for bash, zsh or fish")
    .action((shell: string) => {
      const script = scripts[shell];
      if (script === undefined)
        throw new CommandError(
          `the shell must be bash, zsh or fish, not "${shell}"`,
          exitCodes.usage,
        );
      terminal().stdout.write(script(collect(program, [])));
    });
}

function collect(command: Command, above: readonly string[]): Words[] {
  const children = command.commands.filter((child) => child.name() !== "help");
  const flags = command.options.map((option) => option.long ?? "").filter((flag) => flag !== "");
  const own = {
    path: above.join(" "),
    words: [...children.map((child) => child.name()), ...flags, "--help"],
  };
  return [own, ...children.flatMap((child) => collect(child, [...above, child.name()]))];
}

const scripts: Record<string, (all: Words[]) => string> = { bash, zsh, fish };

function cases(all: Words[]): string {
  return all.map(({ path, words }) => `    "${path}") words="${words.join(" ")}" ;;`).join("\n");
}

/** The words before the cursor, without flags, name the command. */
function bash(all: Words[]): string {
  return `# box completion bash > /etc/bash_completion.d/box
_box() {
  local path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || path="\${path:+$path }$word"
  done
  case "$path" in
${cases(all)}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _box box
`;
}

function zsh(all: Words[]): string {
  return `#compdef box
# box completion zsh > "\${fpath[1]}/_box"
_box() {
  local path="" word found=""
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] || path="\${path:+$path }$word"
  done
  case "$path" in
${cases(all).replaceAll(') words="', ') found="')}
  esac
  compadd -- \${=found}
}
compdef _box box
`;
}

function fish(all: Words[]): string {
  const lines = all.flatMap(({ path, words }) => {
    const test = path === "" ? "__fish_use_subcommand" : `__box_at ${path}`;
    return words.map((word) =>
      word.startsWith("--")
        ? `complete -c box -n '${test}' -l ${word.slice(2)}`
        : `complete -c box -n '${test}' -f -a ${word}`,
    );
  });
  return `# box completion fish > ~/.config/fish/completions/box.fish
function __box_at
  set -l words (string match -v -- '-*' (commandline -opc)[2..])
  test "$words" = "$argv"
end
${lines.join("\n")}
`;
}
