/**
 * Subjects of mails from their senders' documentation and sources. The subjects of one row have the same name, and each
 * has the state under which it is listed.
 */
export interface SubjectRow {
  sender: string;
  fires: readonly string[];
  ends?: readonly string[];
  acknowledges?: readonly string[];
}

export const SUBJECTS: readonly SubjectRow[] = [
  {
    sender: "Nagios, a service",
    fires: [
      "** PROBLEM Service Alert: web-01/HTTP is CRITICAL **",
      "** PROBLEM Service Alert: web-01/HTTP is WARNING **",
      "** PROBLEM Service Alert: web-01/HTTP is UNKNOWN **",
      "** FLAPPINGSTART Service Alert: web-01/HTTP is OK **",
    ],
    ends: [
      "** RECOVERY Service Alert: web-01/HTTP is OK **",
      "** FLAPPINGSTOP Service Alert: web-01/HTTP is OK **",
    ],
    acknowledges: ["** ACKNOWLEDGEMENT Service Alert: web-01/HTTP is CRITICAL **"],
  },
  {
    sender: "Nagios, a host",
    fires: [
      "** PROBLEM Host Alert: web-01 is DOWN **",
      "** PROBLEM Host Alert: web-01 is UNREACHABLE **",
    ],
    ends: ["** RECOVERY Host Alert: web-01 is UP **"],
    acknowledges: ["** ACKNOWLEDGEMENT Host Alert: web-01 is DOWN **"],
  },
  {
    sender: "Nagios, a service that is called by what is wrong",
    fires: ["** PROBLEM Service Alert: web-01/Failed units is CRITICAL **"],
    ends: ["** RECOVERY Service Alert: web-01/Failed units is OK **"],
  },
  {
    sender: "Nagios, a service with a share in its name",
    fires: ["** PROBLEM Service Alert: web-01/Swap used % is CRITICAL **"],
    ends: ["** RECOVERY Service Alert: web-01/Swap used % is OK **"],
  },
  {
    sender: "Icinga 2",
    fires: [
      "[PROBLEM] http on web-01 is CRITICAL!",
      "[FLAPPINGSTART] http on web-01 is OK!",
      "[DOWNTIMESTART] http on web-01 is CRITICAL!",
      "[CUSTOM] http on web-01 is CRITICAL!",
    ],
    ends: ["[RECOVERY] http on web-01 is OK!", "[DOWNTIMEEND] http on web-01 is OK!"],
    acknowledges: ["[ACKNOWLEDGEMENT] http on web-01 is CRITICAL!"],
  },
  {
    sender: "Icinga 2, a host",
    fires: ["[PROBLEM] Host web-01 is DOWN!"],
    ends: ["[RECOVERY] Host web-01 is UP!"],
  },
  {
    sender: "Icinga 1",
    fires: ["PROBLEM - web-01/HTTP is CRITICAL"],
    ends: ["RECOVERY - web-01/HTTP is OK"],
  },
  {
    sender: "Checkmk, a service",
    fires: ["Checkmk: web-01/CPU load OK -> CRIT", "Checkmk: web-01/CPU load CRIT -> WARN"],
    ends: ["Checkmk: web-01/CPU load CRIT -> OK"],
    acknowledges: ["Checkmk: web-01/CPU load Acknowledged (CRIT)"],
  },
  {
    sender: "Checkmk, a host",
    fires: ["Check_MK: web-01 UP -> DOWN", "Check_MK: web-01 UP -> UNREACH"],
    ends: ["Check_MK: web-01 DOWN -> UP"],
  },
  {
    sender: "Zabbix",
    fires: [
      "Problem: High CPU utilization (over 90% for 5m)",
      "Updated problem in 12m 4s: High CPU utilization (over 90% for 5m)",
    ],
    ends: [
      "Resolved in 1h 5m 3s: High CPU utilization (over 90% for 5m)",
      "Resolved: High CPU utilization (over 90% for 5m)",
    ],
  },
  {
    sender: "Zabbix, a trigger that says no",
    fires: ["Problem: Zabbix agent is not available (for 3m)"],
    ends: ["Resolved in 4m 0s: Zabbix agent is not available (for 3m)"],
  },
  {
    sender: "Zabbix before 4",
    fires: ["PROBLEM: Zabbix agent on db-01 is unreachable for 5 minutes"],
    ends: ["OK: Zabbix agent on db-01 is unreachable for 5 minutes"],
  },
  {
    sender: "Uptime Kuma",
    fires: [
      "[shop] [🔴 Down] connect ECONNREFUSED 10.0.0.1:443",
      "[shop] [🔴 Down] timeout of 48000ms exceeded",
    ],
    ends: ["[shop] [✅ Up] 200 - OK"],
  },
  {
    sender: "Grafana",
    fires: [
      "[FIRING:1] HighCPU Linux (web-01 critical)",
      "[FIRING:1, RESOLVED:1] HighCPU Linux (web-01 critical)",
    ],
    ends: ["[RESOLVED] HighCPU Linux (web-01 critical)"],
  },
  {
    sender: "Grafana before 9",
    fires: ["[Alerting] CPU alert", "[No Data] CPU alert"],
    ends: ["[OK] CPU alert"],
  },
  {
    sender: "Alertmanager",
    fires: ["[FIRING:2]  (HostDown critical)"],
    ends: ["[RESOLVED]  (HostDown critical)", "[RESOLVED:2]  (HostDown critical)"],
  },
  {
    sender: "CloudWatch by SNS",
    fires: ['ALARM: "HighCPU" in EU (Ireland)', 'INSUFFICIENT_DATA: "HighCPU" in EU (Ireland)'],
    ends: ['OK: "HighCPU" in EU (Ireland)'],
  },
  {
    sender: "Azure Monitor",
    fires: [
      "Fired:Sev3 Azure Monitor Alert CPU Utilization Alert on web-03 ( microsoft.compute/virtualmachines ) at 3/27/2026 3:19:40 AM",
    ],
    ends: [
      "Resolved:Sev3 Azure Monitor Alert CPU Utilization Alert on web-03 ( microsoft.compute/virtualmachines ) at 3/27/2026 4:58:14 AM",
    ],
  },
  {
    sender: "Pingdom",
    fires: ["DOWN alert: Shop (www.example.com) is DOWN"],
    ends: ["UP alert: Shop (www.example.com) is UP"],
  },
  {
    sender: "UptimeRobot",
    fires: ["Monitor is DOWN: shop", "🔴 Monitor is DOWN: shop"],
    ends: ["Monitor is UP: shop", "🟢 Monitor is UP: shop"],
  },
  {
    sender: "Datadog",
    fires: [
      "[Triggered] CPU is high on web-01",
      "[Warn] CPU is high on web-01",
      "[No data] CPU is high on web-01",
      "[Re-Triggered] CPU is high on web-01",
    ],
    ends: ["[Recovered] CPU is high on web-01"],
  },
  {
    sender: "Datadog, a monitor of several hosts",
    fires: [
      "[P2] [Triggered on {host:web-01}] Disk is full",
      "[P2] [Re-Triggered on {host:web-01}] Disk is full",
    ],
    ends: ["[P2] [Recovered on {host:web-01}] Disk is full"],
  },
  {
    sender: "Datadog, monitors of old",
    fires: ["[Monitor Alert] Triggered: CPU is high on web-01"],
    ends: ["[Monitor Alert] Recovered: CPU is high on web-01"],
  },
  {
    sender: "New Relic",
    fires: ["[Open] Shop - Error percentage (High)"],
    ends: ["[Closed] Shop - Error percentage (High)"],
    acknowledges: ["[Acknowledged] Shop - Error percentage (High)"],
  },
  {
    sender: "Healthchecks",
    fires: ["DOWN | nightly backup"],
    ends: ["UP | nightly backup"],
  },
  {
    sender: "LibreNMS",
    fires: [
      "Alert for device sw-01.example.com - Port utilisation over threshold",
      "Alert for device sw-01.example.com - Port utilisation over threshold got worse",
    ],
    ends: ["Device sw-01.example.com recovered from Port utilisation over threshold"],
  },
  {
    sender: "PRTG",
    fires: [
      "[PRTG Network Monitor (PRTG01)] web-01 (10.0.0.1) PING Down (Request timed out (ICMP error # 11010))",
      "[PRTG Network Monitor (PRTG01)] web-01 (10.0.0.1) PING Down ESCALATION (Request timed out (ICMP error # 11010))",
      "[PRTG Network Monitor (PRTG01)] web-01 (10.0.0.1) PING Down ended (now: Warning) (300 ms)",
    ],
    ends: ["[PRTG Network Monitor (PRTG01)] web-01 (10.0.0.1) PING Down ended (now: Up) (OK)"],
  },
  {
    sender: "Site24x7",
    fires: ["DOWN : shop is Down", "TROUBLE : shop is Trouble", "CRITICAL : shop is Critical"],
    ends: ["UP : shop is Up"],
  },
  {
    sender: "Sensu",
    fires: ["ALERT - web-01/check_http: CRITICAL", "ALERT - web-01/check_http: WARNING"],
    ends: ["RESOLVE - web-01/check_http: OK", "RESOLVED - web-01/check_http: OK"],
  },
  {
    sender: "a status page with signs",
    fires: ["🔴 shop is down"],
    ends: ["🟢 shop is up", "🟢 shop is back up"],
  },
  {
    sender: "PingRoot",
    fires: ["⚠️ Monitor DOWN: https://shop.example.com"],
    ends: ["✅ Monitor UP: https://shop.example.com"],
  },
  {
    sender: "uptime-monitor.io",
    fires: ["Production Server is DOWN!"],
    ends: ["Production Server is UP!"],
  },
  {
    sender: "with severity beside the end",
    fires: ["[FIRING - Warning] etcd has no leader", "[FIRING:3 - Critical] etcd has no leader"],
    ends: ["[RESOLVED - Warning] etcd has no leader", "[RESOLVED: critical] etcd has no leader"],
  },
  { sender: "an answer of a list", fires: ["[prod] FIRING"], ends: ["Re: [prod] RECOVERED"] },
  { sender: "a card in a UPS", fires: ["[UPS] ALARM"], ends: ["[UPS] RECOVERY", "[UPS] CLEARED"] },
  {
    sender: "PagerDuty",
    fires: ["[Triggered] Incident #1042 on shop"],
    ends: ["[Resolved] Incident #1042 on shop"],
  },
  { sender: "Better Stack", fires: ["🚨 shop.example.com"], ends: ["✅ shop.example.com"] },
  { sender: "a script", fires: ["Backup FAILED", "Backup: FAILED"], ends: ["Backup OK"] },
  {
    sender: "a script that shouts",
    fires: ["ERROR: link eth0", "NOT OK: link eth0"],
    ends: ["OKAY: link eth0"],
  },
  {
    sender: "an arrow",
    fires: ["web-01: UP => DOWN"],
    ends: ["web-01: DOWN => UP", "web-01: DOWN → UP"],
  },
  { sender: "smartd", fires: ["SMART error (CurrentPendingSector) detected on host: nas-02"] },
  { sender: "mdadm", fires: ["DegradedArray event on /dev/md0:nas-02"] },
  { sender: "mdadm, a disk", fires: ["Fail event on /dev/md0:nas-02"] },
  { sender: "apcupsd", fires: ["nas-02 UPS smart-750 Power Failure !!!"] },
  { sender: "Proxmox VE", fires: ["vzdump backup status (pve.example.com) : backup failed"] },
  { sender: "cron", fires: ["Cron <root@web-01> /usr/local/bin/backup --clean-up"] },
  { sender: "Netdata", fires: ["web-01 is critical - disk space usage - disk_space._"] },
  { sender: "Jenkins", fires: ["Build failed in Jenkins: shop #41"] },
];

/** Subjects that are no end, whatever their words. */
export const NO_END: readonly string[] = [
  "Database is not OK",
  "Database is NOT OK",
  "Database isn't OK",
  "database is no longer OK",
  "Database is not yet fully OK",
  "Database was never OK",
  "NOT RECOVERED",
  "[web] NOT RECOVERED",
  "[NOT RESOLVED] disk",
  "[Not OK] disk",
  "Nothing is OK",
  "None of the nodes is UP",
  "No node is UP",
  "0 of 3 nodes UP",
  "2/3 nodes UP",
  "1 out of 3 nodes is UP",
  "0 nodes UP",
  "only one node is UP",
  "95% of the nodes are UP",
  "UP? check failed",
  "is it UP?",
  "OK?",
  "Will be OK",
  "Waiting until web is UP",
  "Datenbank ist nicht OK",
  "Kein Knoten ist UP",
  "La base n'est pas OK",
  "✅ Backup did not run",
  "🟢 0 of 3 nodes",
  "[RESOLVED:1, FIRING:2] Disk",
  "[OK, 1 CRITICAL] cluster",
  "[OK] web is DOWN",
  "OK -> WARN: disk",
  "[OK -> CRITICAL] disk",
  "Backup: clean up",
  "Set up of web-01 did not work",
  "Up next: maintenance",
  "UP next: maintenance",
  "[web-01] OK to delete the last copy",
  "Replication is ok on a but not on b",
  "UPS UP there is on battery",
  "Recovery of database shop failed",
  "RECOVERY of database shop failed",
  "RECOVERY JOB FAILED",
  "Recovery job: failed",
  "Recovered 0 of 12 volumes, 12 FAILED on nas",
  "Cleared cache, then restart failed",
  "Port 443 CLOSED",
  "Valve CLEAR",
  "UNRESOLVED: disk",
  "[UNACKNOWLEDGED] disk is failing",
  "NOT ACKNOWLEDGED: disk is failing",
  "Alert is not ACKNOWLEDGED",
  "Device web-01 is not recovered from Devices up/down",
  "UP-TO-DATE: no",
  "",
];
