# shellcheck shell=bash
# What scripts/try-packages --boot does in a fresh tree before systemd is started there: a volume on a disk that fstab mounts with nofail,
# so that no target of systemd waits for it; its unit, those of its watch and of the console; and a unit that looks at them, and shuts down.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

apt-get -q -y install --no-install-recommends systemd systemd-sysv /trial/sdfs.deb
# A disk, as far as systemd is concerned, that needs no udev.
mkdir -p /backing /srv/disk /var/log/journal
echo '/backing /srv/disk none bind,nofail 0 0' >/etc/fstab
mount --bind /backing /srv/disk
echo 'SDFS_CONFIG_DIR="/srv/volume files"' >>/etc/default/sdfs
mkdir '/srv/volume files'
mkfs.sdfs --volume-name=pool0 --volume-capacity=1GB --base-path=/srv/disk/pool0 --memory-budget=256MB
umount /srv/disk
sdfscli console user add admin --role=change >/trial/password
echo 'SDFS_WATCH_EXEC=echo "$SDFS_STATE, before $SDFS_HEALTH_BEFORE" >>/var/log/told' >>/etc/default/sdfs
cat >/etc/systemd/system/look.service <<'UNIT'
[Unit]
After=sdfs@pool0.service sdfs-watch@pool0.service sdfs-console.service
[Service]
Type=oneshot
ExecStart=/bin/bash /trial/look
[Install]
WantedBy=multi-user.target
UNIT
cat >/trial/look <<'LOOK'
systemctl --no-pager status sdfs@pool0 >/trial/status 2>&1
systemctl show -p ActiveState,StatusText,MainPID sdfs@pool0 >>/trial/status
systemctl show -p RequiresMountsFor sdfs@pool0 >>/trial/status
# The watch tells what it sees twice, after five seconds: a volume that is not well, because it was unmounted.
sdfscli pool0 unmount
while ! grep -q 'not mounted' /var/log/told; do sleep 0.2; done
systemctl start sdfs@pool0
while [[ "$(tail -n 1 /var/log/told)" != mounted* ]]; do sleep 0.2; done
systemctl is-active sdfs-watch@pool0 sdfs-console >>/trial/status
exec 3<>/dev/tcp/127.0.0.1/8770
printf 'POST /api/volumes HTTP/1.1\r\nHost: localhost:8770\r\nConnection: close\r\nAuthorization: Basic %s\r\n' \
  "$(printf 'admin:%s' "$(</trial/password)" | base64)" >&3
printf 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}' >&3
cat <&3 >>/trial/status
head -c 10M /dev/urandom >/mnt/pool0/file-$RANDOM
findmnt /mnt/pool0 >>/trial/status
systemctl --no-block poweroff
LOOK
systemctl enable sdfs@pool0 sdfs-watch@pool0 sdfs-console look
systemctl mask systemd-udevd systemd-udev-trigger getty.target console-getty systemd-logind apt-daily.timer apt-daily-upgrade.timer \
  systemd-remount-fs systemd-sysctl systemd-modules-load 2>/dev/null || :
