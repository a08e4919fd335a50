/** A complete text that sends one event, with the box's address and the source's token. */
export interface Snippet {
  /** The program that runs it. */
  id: "curl" | "node" | "python" | "go" | "logger" | "file";
  name: string;
  /** Where to enter it. */
  where: string;
  text: string;
}

/** `base`: the box's address for senders, without a slash at the end. */
export function snippetsOf({ base, token }: { base: string; token: string }): Snippet[] {
  const url = `${base}/v1/ingest`;
  return [
    { id: "curl", name: "curl", where: "any shell", text: curl(url, token) },
    { id: "node", name: "Node", where: "a file of Node 18 or later", text: node(url, token) },
    { id: "python", name: "Python", where: "a file of Python 3", text: python(url, token) },
    { id: "go", name: "Go", where: "a main.go", text: go(url, token) },
    {
      id: "logger",
      name: "journald",
      where: "a machine with systemd",
      text: follow("journalctl -f -n 0 -o cat -p err", url, token),
    },
    {
      id: "file",
      name: "log file",
      where: "the machine that has the file",
      text: follow("tail -F -n 0 /var/log/app.log", url, token),
    },
  ];
}

const EVENT = `{"message":"payment 4711 failed after 30 s","level":400}`;

const curl = (url: string, token: string) =>
  [
    `curl -fsS ${url} \\`,
    `  -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' \\`,
    `  -d '${EVENT}'`,
  ].join("\n");

const node = (url: string, token: string) =>
  [
    `const answer = await fetch("${url}", {`,
    `  method: "POST",`,
    `  headers: { authorization: "Bearer ${token}", "content-type": "application/json" },`,
    `  body: JSON.stringify({ message: "payment 4711 failed after 30 s", level: 400 }),`,
    `});`,
    `// 202: it is on the disk. Anything else: send it again.`,
    `if (answer.status !== 202) throw new Error(await answer.text());`,
  ].join("\n");

const python = (url: string, token: string) =>
  [
    `import json, urllib.request`,
    ``,
    `event = {"message": "payment 4711 failed after 30 s", "level": 400}`,
    `request = urllib.request.Request(`,
    `    "${url}",`,
    `    json.dumps(event).encode(),`,
    `    {"Authorization": "Bearer ${token}", "Content-Type": "application/json"},`,
    `)`,
    `# It throws for all but success. 202: the event is on the disk.`,
    `urllib.request.urlopen(request, timeout=10)`,
  ].join("\n");

const go = (url: string, token: string) =>
  [
    `package main`,
    ``,
    `import (`,
    `	"log"`,
    `	"net/http"`,
    `	"strings"`,
    `)`,
    ``,
    `func main() {`,
    `	body := strings.NewReader(\`${EVENT}\`)`,
    `	request, err := http.NewRequest("POST", "${url}", body)`,
    `	if err != nil {`,
    `		log.Fatal(err)`,
    `	}`,
    `	request.Header.Set("Authorization", "Bearer ${token}")`,
    `	request.Header.Set("Content-Type", "application/json")`,
    `	answer, err := http.DefaultClient.Do(request)`,
    `	if err != nil {`,
    `		log.Fatal(err)`,
    `	}`,
    `	defer answer.Body.Close()`,
    `	if answer.StatusCode != 202 {`,
    `		log.Fatal(answer.Status)`,
    `	}`,
    `}`,
  ].join("\n");

/** Sends each line of a command's output as an event. Python encodes the JSON, because a line can hold anything. */
const follow = (command: string, url: string, token: string) =>
  [
    `${command} | python3 -c '`,
    `import json, sys, urllib.request`,
    `for line in iter(sys.stdin.readline, ""):`,
    `    if not line.strip(): continue`,
    `    event = {"message": line.rstrip("\\n"), "level": 400}`,
    `    headers = {"Authorization": "Bearer ${token}", "Content-Type": "application/json"}`,
    `    request = urllib.request.Request("${url}", json.dumps(event).encode(), headers)`,
    `    urllib.request.urlopen(request, timeout=10)'`,
  ].join("\n");
