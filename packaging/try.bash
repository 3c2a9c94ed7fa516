# shellcheck shell=bash
# What scripts/try-packages does in a fresh tree, as its first process: /trial/sdfs.deb is tried, with
# /trial/s3.deb beside it; /trial/later.deb replaces it.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

home=/usr/lib/sdfs
mount_point=/mnt/pool0
# Some files of the system.
data="$(dirname "$(find /usr/lib -path '*/perl-base/Config.pm')")"

say() { echo "try: $*"; }

fail() {
  say "FAILED: $*"
  exit 1
}

apt() { apt-get -q -y "$@"; }

# All that there is but what apt, dpkg and the kernel keep for themselves.
everything() {
  find / -xdev \( -path /proc -o -path /run -o -path /dev -o -path /tmp -o -path /trial -o -path /var/cache -o -path /var/log \
    -o -path /var/lib/apt -o -path /var/lib/dpkg \) -prune -o -printf '%p %l\n' | sort
}

daemon() { sdfscli pool0 info --json | sed -n 's/^ *"pid" : \([0-9]*\).*/\1/p'; }

await_end() {
  local tries
  for ((tries = 0; tries < 1200; tries++)); do
    [[ -e "/proc/$1" ]] || return 0
    sleep 0.1
  done
  fail "process $1 does not end"
}

# Becomes what a unit of systemd starts, with its environment and those of its restrictions that need no systemd. Arguments: its file, and
# its instance. /etc/default/sdfs must have no values that the shell reads otherwise than systemd.
as_unit() {
  local unit="/usr/lib/systemd/system/$1" command capabilities
  # ${NAME} is one word for systemd, $NAME several.
  command="$(sed -n -e "s/%i/$2/g" -e 's/\${[A-Z_]*}/"&"/g' -e 's/^ExecStart=//p' "$unit")"
  capabilities="$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | sed -e 's/CAP_/+/g' -e 's/ /,/g')"
  exec env -i PATH="$PATH" JOURNAL_STREAM=8:1 bash -c "set -a; $(sed -n 's/^Environment=//p' "$unit")
    source /etc/default/sdfs
    exec setpriv --no-new-privs --bounding-set=-all,${capabilities,,} $command"
}

await_line() {
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    ! grep -sq "$1" "$2" || return 0
    sleep 0.1
  done
  fail "'$1' is not in $2: $(cat "$2")"
}

# Asks the console for the volumes, as user admin with this password.
volumes_of_console() {
  exec 3<>/dev/tcp/127.0.0.1/8771
  printf 'POST /api/volumes HTTP/1.1\r\nHost: localhost:8771\r\nConnection: close\r\nAuthorization: Basic %s\r\n' \
    "$(printf 'admin:%s' "$1" | base64)" >&3
  printf 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}' >&3
  cat <&3
  exec 3>&-
}

same() { diff -r "$data" "$mount_point/first" || fail "the files differ"; }

# --- install where nothing can be mounted, and purge at once

cp -a /dev/fuse /trial/fuse
rm /dev/fuse
apt install --no-install-recommends /trial/sdfs.deb | tee /trial/said
grep -q '^sdfs: there is no /dev/fuse' /trial/said || fail "nothing is said of the missing /dev/fuse"
sdfscli --list
apt purge sdfs
cp -a /trial/fuse /dev/fuse
everything >/trial/before
! grep -i sdfs /trial/before || fail "a purge leaves these"

# --- use

apt install /trial/sdfs.deb
! grep -sqx java /proc/[0-9]*/comm || fail "the trial mount left a process"
archives="$(cd "$home" && ls | grep -E '^(commands|daemon)\.' | xargs)" || :
[[ "$archives" == *commands.*daemon.* ]] || fail "no archive of classes was made"
say "installed for $(readlink "$home/java"); $(du -sm "$home" | cut -f 1) MB with $archives"
sed -i 's/^#SDFS_JAVA_OPTS=.*/SDFS_JAVA_OPTS=-Dtry.setting=read/' /etc/default/sdfs
mkfs.sdfs --volume-name=pool0 --volume-capacity=1GB --base-path=/srv/pool0 --memory-budget=256MB
mkdir "$mount_point"
mount -t sdfs pool0 "$mount_point"
grep -qz 'try.setting=read' "/proc/$(daemon)/cmdline" || fail "/etc/default/sdfs is not read"
flags="$(sed -n 's/^flags:[[:space:]]*//p' "/proc/$(daemon)/fdinfo/1")"
((8#$flags & 8#2000)) || fail "the console is not appended to, so emptying it would leave a hole in it"
cp -a "$data" "$mount_point/first"
same
# Well, or its disk has little space.
sdfscli pool0 || (($? == 1))
before="$(daemon)"
umount "$mount_point"
[[ ! -e "/proc/$before" ]] || fail "umount did not wait for the daemon"
# The command of users, whichever of the links the PATH has first.
[[ "$(SDFS_JAVA_OPTS=-Dtry.setting=caller mount.sdfs pool0 "$mount_point")" == "Mounted pool0"* ]] ||
  fail "mount.sdfs is not the command of users"
grep -qz 'try.setting=caller' "/proc/$(daemon)/cmdline" || fail "the settings of the machine go before the caller's"
same
[[ "$(sdfscli estimate --json "$data")" == *'"'*'"'* ]] || fail "no estimate"
say "used"

# --- the libraries of volumes in S3

apt install /trial/s3.deb
[[ -n "$(find "$home/optional/s3" -name 'sar-s3-*.jar')" ]] || fail "the libraries for s3:// are not there"
apt purge sdfs-s3
[[ ! -e "$home/optional" ]] || fail "a purge leaves $home/optional"
say "installed and removed what volumes in S3 need"

# --- the services, as their units start them

cat >>/etc/default/sdfs <<'SETTINGS'
SDFS_WATCH_EXEC=/trial/told.sh
SDFS_CONSOLE_OPTIONS=--listen=127.0.0.1:8771
SETTINGS
printf '#!/bin/sh\necho "$SDFS_VOLUME: $SDFS_STATE" >>/trial/told\n' >/trial/told.sh
chmod 755 /trial/told.sh
! (as_unit sdfs-console.service "") >/trial/console 2>&1 || fail "the console runs without a user"
grep -q 'sdfscli console user add admin' /trial/console || fail "of the missing user it says $(cat /trial/console)"
password="$(sdfscli console user add admin --role=change)"
as_unit sdfs-console.service "" >/trial/console 2>&1 &
console=$!
as_unit sdfs-watch@.service pool0 >/trial/watch 2>&1 &
watch=$!
await_line 'The console is at' /trial/console
[[ "$(volumes_of_console "$password")" == *'"state":"mounted"'* ]] || fail "the console knows no mounted volume"
umount "$mount_point"
await_line '^pool0: not mounted' /trial/told
mount -t sdfs pool0 "$mount_point"
await_line '^pool0: mounted' /trial/told
grep -qz -- '-Xmx24m' "/proc/$watch/cmdline" || fail "the watch has no small heap"
kill "$console" "$watch"
for ended in "$console" "$watch"; do
  status=0
  wait "$ended" || status=$?
  ((status == 143)) || fail "a service ended with $status after SIGTERM, which its unit does not take for success"
done
rm /trial/told.sh
say "the services run as their units start them"

# --- upgrade with a mounted volume

old="$(daemon)"
jars="$(cd "$home/jars" && echo *.jar | wc -w)"
apt install /trial/later.deb
[[ -z "$(find "$home/jars" -name '*.jar' ! -name '*.999.jar')" ]] || fail "the old jars are still there"
# Files that the daemon closes meanwhile are none of these, and make find fail.
held="$({ find "/proc/$old/fd" -lname "$home/jars/*.jar (deleted)" -printf '%l\n' || true; } | sort -u | wc -l)"
((held == jars)) || fail "the daemon holds $held of $jars jars"
[[ "$(daemon)" == "$old" ]] || fail "another daemon answers"
same
cp -a "$data" "$mount_point/second"
# What loads classes that the daemon has not used before.
sdfscli pool0 check
sdfscli pool0 scrub start --wait
rm -r "$mount_point/second"
sdfscli pool0 gc --wait
sdfscli pool0 restore "$mount_point/first" /srv/restored
diff -r "$data" /srv/restored
! grep -E 'NoClassDefFound|ClassNotFound|ERROR' /srv/pool0/log/pool0.log || fail "the daemon logged an error"
umount "$mount_point"
[[ ! -e "/proc/$old" ]] || fail "umount did not wait for the old daemon"
mount -t sdfs pool0 "$mount_point"
grep -qz 'try.setting=read' "/proc/$(daemon)/cmdline" || fail "the upgrade changed /etc/default/sdfs"
[[ -n "$(find "/proc/$(daemon)/fd" -lname "$home/jars/*.999.jar")" ]] || fail "the next mount is not of the new program"
same
say "upgraded while mounted, $held jars held; the next mount is of the new program"

# --- remove while mounted, purge

old="$(daemon)"
enabled=/etc/systemd/system/multi-user.target.wants/sdfs@pool0.service
mkdir -p "$(dirname "$enabled")"
ln -s /usr/lib/systemd/system/sdfs@.service "$enabled"
apt remove sdfs
same
umount "$mount_point"
await_end "$old"
! mount -t sdfs pool0 "$mount_point" 2>/dev/null || fail "mount works without the package"
apt purge sdfs
[[ -s /etc/sdfs/pool0-volume-cfg.xml && -d /srv/pool0/chunkstore ]] || fail "a purge removed a volume"
rm -r /srv/pool0 /srv/restored /etc/sdfs
[[ ! -L "$enabled" ]] || fail "a purge leaves the link of an enabled unit"
rmdir "$mount_point"
rmdir -p --ignore-fail-on-non-empty "$(dirname "$enabled")"
everything >/trial/after
diff /trial/before /trial/after || fail "the purge leaves these, or took them"
say "removed and purged; nothing is left"
