/** Mails as their senders write them; made here from the senders' known formats. */

export const KEY = "0123456789abcdef0123456789abcdef";

function mail(head: readonly string[], body: string): string {
  return `${[...head, "", body].join("\r\n").replace(/\r?\n/g, "\r\n")}\r\n`;
}

export const cronMail = (to = `box+${KEY}@box.example.com`) =>
  mail(
    [
      "From: root@web-01.example.com (Cron Daemon)",
      `To: ${to}`,
      "Subject: Cron <root@web-01> /usr/local/bin/backup",
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=UTF-8",
      "Content-Transfer-Encoding: 8bit",
      "Auto-Submitted: auto-generated",
      "X-Cron-Env: <SHELL=/bin/sh>",
      "Message-Id: <20261120031501.1A2B3C@web-01.example.com>",
      "Date: Fri, 20 Nov 2026 03:15:01 +0100 (CET)",
    ],
    "tar: /data: file changed as we read it\nexit status 1",
  );

/** No Message-Id, no MIME. */
export const mdadmMail = () =>
  mail(
    [
      "From: mdadm monitoring <root@nas-02>",
      "To: root@nas-02",
      "Subject: DegradedArray event on /dev/md0:nas-02",
      "Date: Fri, 20 Nov 2026 06:47:01 +0100",
    ],
    "This is an automatically generated mail message from mdadm\nrunning on nas-02\n\nA DegradedArray event had been detected on md device /dev/md0.",
  );

export const upsMail = () =>
  mail(
    [
      "From: =?iso-8859-1?Q?USV_B=FCro?= <ups@example.com>",
      "To: box@example.com",
      "Subject: =?iso-8859-1?B?U3Ryb21hdXNmYWxsIGltIEL8cm8=?=",
      "Content-Type: text/plain; charset=iso-8859-1",
      "Content-Transfer-Encoding: quoted-printable",
    ],
    "Netz ausgefallen, Batterie 87=20%=0D=0AB=FCro 2",
  );

/** Alertmanager's: one HTML part in quoted-printable, without text. */
export const htmlMail = () =>
  mail(
    [
      "Subject: [FIRING:2]  (HostDown critical)",
      "To: box@example.com",
      "From: alertmanager@example.com",
      "Message-Id: <1795290052850592005.8552280367549557615@am>",
      "Date: Sat, 21 Nov 2026 19:40:52 +0000",
      "Content-Type: multipart/alternative;  boundary=aedc56320d37",
      "MIME-Version: 1.0",
      "",
      "--aedc56320d37",
      "Content-Transfer-Encoding: quoted-printable",
      "Content-Type: text/html; charset=UTF-8",
    ],
    [
      "<html><head><title>no</title><style>h1 { color: red }</style></head><body>",
      "<table><tr><td><b>Labels</b><br>alertname =3D HostDown<br>instance =3D web-0=",
      "1:9100<br></td></tr>",
      "<tr><td>alertname =3D HostDown<br>instance =3D web-02:9100<br></td></tr></table>",
      "</body></html>",
      "--aedc56320d37--",
    ].join("\n"),
  );

export const attachedMail = () =>
  mail(
    [
      "From: camera@example.com",
      `To: ${KEY}@box`,
      "Subject: Motion at the back door",
      'Content-Type: multipart/mixed; boundary="b"',
      "X-Priority: 1 (Highest)",
      "",
      "--b",
      "Content-Type: text/plain",
    ],
    [
      "See the pictures.",
      ...["a.jpg", "b.jpg"].flatMap((name) => [
        "--b",
        `Content-Type: image/jpeg; name="${name}"`,
        "Content-Disposition: attachment",
        "Content-Transfer-Encoding: base64",
        "",
        "/9j/4AAQSkZJRg==",
      ]),
      "--b",
      "Content-Type: application/zip",
      "Content-Disposition: attachment; filename=log.zip",
      "Content-Transfer-Encoding: base64",
      "",
      "UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==",
      "--b--",
    ].join("\n"),
  );
