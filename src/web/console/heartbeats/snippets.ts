import { html, type Markup } from "../../../ground/kit/html.ts";

/** What makes a job report, by where it runs. */
interface PingSnippet {
  id: "cron" | "systemd" | "shell" | "github" | "gitlab";
  name: string;
  where: string;
  text: string;
}

const CURL = "curl -fsS -m 10 --retry 5 --retry-connrefused -o /dev/null";

/** `cron`: five fields, where they are known. */
export function pingSnippets(url: string, cron: string | null): PingSnippet[] {
  return [
    {
      id: "cron",
      name: "cron",
      where: "the crontab: output and exit status in one call",
      text: `${cron ?? "15 3 * * *"}  out=$(/usr/local/bin/job 2>&1); ${CURL} --data-raw "$out" ${url}/$?`,
    },
    {
      id: "systemd",
      name: "systemd",
      where: "the job’s unit",
      text: [
        "[Service]",
        `ExecStartPre=-/usr/bin/${CURL} ${url}/start`,
        `ExecStopPost=-/bin/sh -c '${CURL} ${url}/$\${EXIT_STATUS:-1}'`,
      ].join("\n"),
    },
    {
      id: "shell",
      name: "shell",
      where: "a script, at its top: it tells how it ends, whatever ends it",
      text: [`${CURL} ${url}/start || true`, `trap '${CURL} ${url}/$?' EXIT`].join("\n"),
    },
    {
      id: "github",
      name: "GitHub Actions",
      where: "the last step of a job; the address is a secret called BOX_PING",
      text: [
        "- name: Report",
        "  if: always()",
        `  run: ${CURL} "$BOX_PING/\${{ job.status == 'success' && '0' || 'fail' }}"`,
        "  env:",
        `    BOX_PING: \${{ secrets.BOX_PING }}`,
        `# BOX_PING is ${url}`,
      ].join("\n"),
    },
    {
      id: "gitlab",
      name: "GitLab CI",
      where: "a job; the address is a masked variable called BOX_PING",
      text: [
        "after_script:",
        `  - ${CURL} "$BOX_PING/$([ "$CI_JOB_STATUS" = success ] && echo 0 || echo fail)"`,
        `# BOX_PING is ${url}`,
      ].join("\n"),
    },
  ];
}

/** The address of a heartbeat, with what to paste where; nothing but this once. */
export function addressNotice(
  { ping_url, uuid }: Readonly<Record<string, string | undefined>>,
  cron: string | null,
): Markup {
  if (ping_url === undefined) return html``;
  const copy = (id: string) =>
    html`<button type="button" class="button second" data-copy="${id}" hidden>Copy</button>`;
  return html`<div class="notice notice-warn"><h2>Its address</h2>
<p>It is shown once, now: whoever has it can report, and nothing else. Store it with the job; nobody can read it again, only replace it.</p>
<div class="snippet"><pre class="code wrap" id="ping-address">${ping_url}</pre>${copy("ping-address")}</div>
${pingSnippets(ping_url, cron).map(
  ({ id, name, where, text }, at) =>
    html`<details id="ping-${id}"${at === 0 && html` open`}><summary>${name}, in ${where}</summary><div class="snippet"><pre class="code" id="paste-${id}" tabindex="0">${text}</pre>${copy(`paste-${id}`)}</div></details>
`,
)}
${uuid !== undefined && html`<details id="ping-uuid"><summary>A job that calls Healthchecks</summary><p>goes on with this UUID, at this box: <code class="wrap">${uuid}</code></p></details>`}</div>`;
}
