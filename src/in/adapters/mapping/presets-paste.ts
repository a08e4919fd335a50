/** Scripts for senders without a webhook of their own. */

export const CHECKMK = `#!/usr/bin/env python3
# Box
import json, os, urllib.request

URL = "https://BOX/v1/in/hook/TOKEN"
read = lambda name: os.environ.get("NOTIFY_" + name, "")
what = read("WHAT")  # HOST or SERVICE
body = {
    "notification_type": read("NOTIFICATIONTYPE"), "site": read("OMD_SITE"), "host": read("HOSTNAME"),
    "service": read("SERVICEDESC"), "status": read(what + "STATE"), "event": read(what + "STATE"),
    "output": read(what + "OUTPUT"), "long_output": read("LONG" + what + "OUTPUT"),
}
headers = {"Content-Type": "application/json"}
urllib.request.urlopen(urllib.request.Request(URL, json.dumps(body).encode(), headers), timeout=20)`;

/** As a form, so that no quote in an output breaks it. */
export const ICINGA = `object NotificationCommand "box" {
  command = [ "curl", "-fsS", "-m", "20", "--retry", "3",
    "--data-urlencode", "type=$notification.type$",
    "--data-urlencode", "host=$host.name$",
    "--data-urlencode", "service=$service.name$",
    "--data-urlencode", "state=$service.state$",
    "--data-urlencode", "output=$service.output$",
    "--data-urlencode", "time=$icinga.timet$",
    "https://BOX/v1/in/hook/TOKEN" ]
}`;

export const LIBRENMS = `{"id":"{{ $alert->id }}","title":"{{ $alert->title }}","state":"{{ $alert->state }}","severity":"{{ $alert->severity }}","host":"{{ $alert->hostname }}","rule":"{{ $alert->name }}","device":"{{ $alert->device_id }}"}`;
