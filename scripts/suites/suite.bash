# shellcheck shell=bash
# Functions of every suite: a new mounted volume, and the record of results. Sourced by the suites, which scripts/posix-suite runs.
#
# Each suite's head gives posix-suite its Title, whether it is Quick (part of scripts/test), the Minutes it may take (quick, full),
# and the Debian packages and Crates it needs.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../common.bash"

: "${SUITE_WORK:?run through scripts/posix-suite}" "${SUITE_RESULTS:?}" "${SUITE_MODE:?}" "${SUITE_SEED:?}"
export SDFS_CONFIG_DIR="$SUITE_WORK/etc"
suite="$(basename "$0")"
volume=posix
mount_point="$SUITE_WORK/mnt"
# A folder of the machine's own file system: for sources, for files that must outlive the volume, and for comparison.
plain="$SUITE_WORK/plain"
# The row of the table that counts the results.
row="$suite"
log_number=0

is_quick() { [[ "$SUITE_MODE" == quick ]]; }

# Prints the first argument in the quick form, else the second.
by_mode() { if is_quick; then echo "$1"; else echo "$2"; fi; }

# --- the volume

# Of an encrypted volume.
export SDFS_PASSPHRASE="posix suite"

has() { [[ "$SUITE_KINDS" == *" $1 "* ]]; }

make_volume() {
  local -a options=()
  if has encryption; then options+=(--encrypt); fi
  if has ssd || has tddfs; then options+=(--sar-ssd-location="$SUITE_WORK/ssd" --sar-ssd-capacity=16GB); fi
  if has tddfs; then options+=(--tier-mode=tddfs --tddfs-journal=1); fi
  # Each second, so that the programs meet snapshots that are made and deleted.
  if has snapshots; then options+=(--snapshot-schedule='* * * * * ?' --snapshot-keep=last=5); fi
  if has folder; then
    mkdir "$SUITE_WORK/store"
    options+=(--object-store="file://$SUITE_WORK/store")
  fi
  if has s3; then
    eval "$("$project/scripts/s3-gateway" --with=$$ "$SUITE_WORK/s3")"
    options+=(--object-store="${S3_GATEWAY/bucket/bucket/$volume}")
  fi
  mkdir -p "$mount_point" "$plain"
  "$project/scripts/mkfs.sdfs" --volume-name="$volume" --volume-capacity=100GB --base-path="$SUITE_WORK/base" \
    --memory-budget=512MB --chunk-store-hashdb-class="$SUITE_INDEX" "${options[@]}" >"$SUITE_WORK/mkfs.log"
}

mount_volume() {
  # Mounted like a local file system, which the suites' tests of setuid programs and devices expect.
  "$project/scripts/mount.sdfs" -o allow_suid,allow_dev --json "$volume" "$mount_point" >"$SUITE_WORK/mount.json"
}

daemon_pid() { sed -n 's/.*"pid" : \([0-9]*\).*/\1/p' "$SUITE_WORK/mount.json"; }

unmount_volume() {
  umount "$mount_point"
  await_end "$(daemon_pid)" 120
}

# Reads after this do not use the kernel's caches.
remount_volume() {
  unmount_volume
  mount_volume
}

# Ends the daemon like a crash (SIGKILL), and removes the dead mount.
crash_volume() {
  kill -KILL "$(daemon_pid)"
  await_end "$(daemon_pid)" 120
  umount -l "$mount_point"
}

# Starts the suite: a volume, made and mounted. Files that programs leave in their current folder are removed with the work folder.
open_suite() {
  cd "$SUITE_WORK"
  make_volume
  mount_volume
}

# Ends the suite: the volume must close properly and its log must have no error. Recorded in a separate row, so that
# a suite's numbers are its program's.
close_suite() {
  row=volume
  check "the volume of $suite closes in order" unmount_volume
  check "the daemon's log of $suite has no error" log_is_clean
}

# The log of a daemon that ran to its end: a line of ERROR there is a defect even if every test passed.
log_is_clean() {
  ! grep -hE '^[^ ]+ ERROR' "$SUITE_WORK"/base/log/*.log
}

# --- the record

# Records a result: pass, fail or skip; the name of the test; the reason.
record() { printf '%s\t%s\t%s\t%s\n' "$row" "$1" "$2" "${3:-}" >>"$SUITE_RESULTS"; }

# Copies results from standard input (status, name, reason; separated by tabs) as those of a row of the table.
record_all() { sed "s/^/$1\t/" >>"$SUITE_RESULTS"; }

# Prints the last line of a log, shortened for the table.
last_line() { grep . "$1" | tail -n 1 | tr '\t' ' ' | cut -c 1-150; }

# Runs a command as a test. Its output goes to a log, whose end is shown if it fails. Status 77 means that the test could
# not run, and the last line says why. Never call it as a condition: that would disable set -e inside the command.
check() {
  local name="$1" status started=$SECONDS log
  shift
  log_number=$((log_number + 1))
  log="$SUITE_WORK/$(printf '%03d' "$log_number").log"
  set +e
  (
    set -e
    "$@"
  ) >"$log" 2>&1
  status=$?
  set -e
  if ((status == 0)); then
    record pass "$name"
    printf '  ok    %s (%d s)\n' "$name" "$((SECONDS - started))"
  elif ((status == 77)); then
    record skip "$name" "$(last_line "$log")"
    printf '  skip  %s: %s\n' "$name" "$(last_line "$log")"
  else
    record fail "$name" "status $status: $(last_line "$log")"
    printf '  FAIL  %s (%d s), status %d; the end of %s:\n' "$name" "$((SECONDS - started))" "$status" "$log"
    tail -n 15 "$log" | sed 's/^/        /'
  fi
}

# Succeeds if a command fails: for controls, which show that a test detects a fault.
fails() {
  if "$@"; then
    echo "it succeeded, though it had to fail: $*"
    return 1
  fi
}
