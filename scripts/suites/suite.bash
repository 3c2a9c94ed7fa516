# shellcheck shell=bash
# What every suite has: a fresh volume, mounted, and the record of what passed. Sourced by the suites, which scripts/posix-suite runs.
#
# Each suite's head tells posix-suite its Title, whether it is Quick (part of scripts/test), the Minutes it may take (quick, full),
# and the Debian packages and Crates it needs.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../common.bash"

: "${SUITE_WORK:?run through scripts/posix-suite}" "${SUITE_RESULTS:?}" "${SUITE_BINDING:?}" "${SUITE_MODE:?}" "${SUITE_SEED:?}"
export SDFS_CONFIG_DIR="$SUITE_WORK/etc"
suite="$(basename "$0")"
volume=posix
mount_point="$SUITE_WORK/mnt"
# A folder of the machine's own file system: for sources, for what must outlive the volume, and to compare with.
plain="$SUITE_WORK/plain"
# The row of the table that results are counted in.
row="$suite"
log_number=0

is_quick() { [[ "$SUITE_MODE" == quick ]]; }

# Prints the first argument in the quick form, else the second.
by_mode() { if is_quick; then echo "$1"; else echo "$2"; fi; }

# --- the volume

make_volume() {
  mkdir -p "$mount_point" "$plain"
  "$project/scripts/mkfs.sdfs" --volume-name="$volume" --volume-capacity=100GB --base-path="$SUITE_WORK/base" \
    --memory-budget=512MB >"$SUITE_WORK/mkfs.log"
}

mount_volume() {
  # As a local file system is mounted, which the suites' tests of setuid programs and devices expect.
  local -a options=(-o allow_suid,allow_dev)
  [[ "$SUITE_BINDING" == kernel ]] || options+=("--fuse-binding=$SUITE_BINDING")
  "$project/scripts/mount.sdfs" "${options[@]}" --json "$volume" "$mount_point" >"$SUITE_WORK/mount.json"
}

daemon_pid() { sed -n 's/.*"pid" : \([0-9]*\).*/\1/p' "$SUITE_WORK/mount.json"; }

# Waits until the daemon has ended: for as long as closing a volume may take.
await_daemon_end() { timeout 120 tail --sleep-interval=0.1 --pid="$(daemon_pid)" -f /dev/null; }

unmount_volume() {
  umount "$mount_point"
  await_daemon_end
}

# Nothing of it comes from the kernel's caches afterwards.
remount_volume() {
  unmount_volume
  mount_volume
}

# Ends the daemon as a crash of it would (SIGKILL), and takes away the dead mount.
crash_volume() {
  kill -KILL "$(daemon_pid)"
  await_daemon_end
  umount -l "$mount_point"
}

# Starts the suite: a volume, made and mounted. What programs drop where they run goes with the work folder.
open_suite() {
  cd "$SUITE_WORK"
  make_volume
  mount_volume
}

# Ends the suite: a volume that served all this closes in order and has complained of nothing. Told in a row of its own, so that
# a suite's numbers are its program's.
close_suite() {
  row=volume
  check "the volume of $suite closes in order" unmount_volume
  check "the daemon's log of $suite has no error" log_is_clean
}

# The log of a daemon that lived: a line of ERROR there is a defect even when every test passed.
log_is_clean() {
  ! grep -hE '^[^ ]+ ERROR' "$SUITE_WORK"/base/log/*.log
}

# --- the record

# Records a result: pass, fail or skip; the name of the test; the reason.
record() { printf '%s\t%s\t%s\t%s\n' "$row" "$1" "$2" "${3:-}" >>"$SUITE_RESULTS"; }

# Copies results from standard input (status, name, reason; separated by tabs) as those of a row of the table.
record_all() { sed "s/^/$1\t/" >>"$SUITE_RESULTS"; }

# Prints what a log says last, short enough for the table.
last_line() { grep . "$1" | tail -n 1 | tr '\t' ' ' | cut -c 1-150; }

# Runs a command as a test. Its output goes to a log, of which the end is shown when it fails. Status 77 says that the test could
# not run, and the last line why. Never to be called as a condition: that would switch off set -e inside the command.
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

# Succeeds if a command fails: for controls, which show that a test would notice.
fails() {
  if "$@"; then
    echo "it succeeded, though it had to fail: $*"
    return 1
  fi
}
