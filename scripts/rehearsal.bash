# shellcheck shell=bash
# A rehearsal: a trial mount, after which the JVMs write what they learned. Sourced by scripts that also source java.bash.

# Mounts a small encrypted volume with the commands in a folder, calls a function with the mount point, and unmounts. The JVMs write archives of the
# classes that they load, and from release 25 on profiles of the daemon's methods. Where nothing can be mounted there are no archives: a
# mount takes a quarter longer, and the first minute is slower. Arguments: the folder of the commands, the function, and its further
# arguments.
rehearse() (
  set -e
  commands="$1"
  find_home
  stage="$(mktemp -d)"
  trap 'if mountpoint -q "$stage/mnt"; then "$commands/sdfscli" rehearsal unmount; fi
    rm -rf "$stage" "$home"/*.new' EXIT
  mkdir "$stage/mnt"
  export SDFS_CONFIG_DIR="$stage/etc" SDFS_PASSPHRASE=rehearsal
  java="$(find_java)"
  kind=jsa
  learning="-XX:ArchiveClassesAtExit"
  set_feature "$java"
  if ((feature >= first_with_aot_cache)); then
    kind=aot
    learning="-XX:AOTCacheOutput"
  fi
  rm -f "$home"/{commands,daemon}.{jsa,aot}
  "$commands/mkfs.sdfs" --encrypt --volume-name=rehearsal --volume-capacity=10GB --memory-budget=512MB --base-path="$stage/volume"
  SDFS_COMMAND_JAVA_OPTS="$learning=$home/commands.$kind.new" SDFS_JAVA_OPTS="$learning=$home/daemon.$kind.new" \
    "$commands/mount.sdfs" rehearsal "$stage/mnt"
  # The daemon runs them, and so keeps the classes of commands.
  "$commands/sdfscli" rehearsal
  "$commands/sdfscli" rehearsal status
  daemon="$("$commands/sdfscli" rehearsal info --json | sed -n 's/^ *"pid" : \([0-9]*\).*/\1/p')"
  "$2" "$stage/mnt" "${@:3}"
  "$commands/sdfscli" rehearsal unmount
  # The daemon writes the archive just before it ends.
  await_end "$daemon" 120
  accept_archive "$home/daemon.$kind" -XX:+UseParallelGC
  # Last: it is the one that run_java looks for.
  accept_archive "$home/commands.$kind" -XX:+UseSerialGC
)

# Verifies an archive and gives it its name. An incomplete archive would crash a JVM. Arguments: the name, and the collector of the JVM
# that made it.
accept_archive() {
  local -a verify=(-Xshare:on "-XX:SharedArchiveFile=$1.new")
  [[ "$1" != *.aot ]] || verify=(-XX:AOTMode=on "-XX:AOTCache=$1.new" --enable-native-access=ALL-UNNAMED)
  "$java" "${verify[@]}" "$2" -XX:+VerifySharedSpaces -cp "$classes" -version
  chmod a+r "$1.new" # the volume's process makes files with mode 0600
  mv "$1.new" "$1"
}

# Runs the rehearsal of a folder of commands, of which only a failure is shown. Arguments as of rehearse.
try_rehearsal() {
  local said status=0
  # Not as the condition of an if, because that disables set -e.
  set +e
  said="$(rehearse "$@" 2>&1)"
  status=$?
  set -e
  ((status == 0)) || printf '%s: warning: a trial mount failed; mounts will start more slowly. Its output:\n%s\n' "$(basename "$0")" "$said" >&2
}

# Makes archives for the commands of the project's folder, unless it has no jars, or those of the last ones.
rehearse_in_project() {
  local home classes estimate feature kind=jsa
  find_home
  compgen -G "$home/sdfs-integration-*.jar" >/dev/null || return 0
  set_feature "$(find_java)"
  ((feature < first_with_aot_cache)) || kind=aot
  has_archive "commands.$kind" || try_rehearsal "$commands" work 1
}

# Does in the folder what a volume's first minute has: new data and data again, large files and small ones, reads in order and at random.
# Profiles of methods need this work; the archives of older releases have classes only, which little of it loads. Arguments: the folder,
# and how many times.
work() {
  local round file modules
  if [[ "$kind" != aot ]]; then
    touch_all "$1"
    return
  fi
  modules="$(dirname "$(dirname "$(readlink -f "$java")")")/lib/modules"
  for ((round = 1; round <= $2; round++)); do
    # Bytes that compress, as those of backups do, and twice.
    for file in large again; do
      head -c 100M "$modules" >"$1/$file-$round"
      head -c 20M /dev/urandom >>"$1/$file-$round"
      sync "$1/$file-$round"
    done
    mkdir "$1/small-$round"
    cp "$commands"/*.sdfs "$commands"/sdfs* "$1/small-$round"
    for file in {1..300}; do echo "$round $file" >"$1/small-$round/$file"; done
    # A sync of few bytes, many times, as databases and mail make them.
    # For two seconds at most: on a hard disk a sync takes some milliseconds.
    timeout 2 dd if=/dev/urandom of="$1/log-$round" bs=100 count=3000 oflag=dsync status=none || [[ $? -eq 124 ]]
    ls -lR "$1" >/dev/null
    # Past the kernel's cache, which has what was written.
    dd if="$1/large-$round" of=/dev/null bs=1M iflag=direct status=none
    dd if="$1/large-$round" of=/dev/null bs=4k iflag=direct count=2000 skip=$((round * 1000)) status=none
    rm -r "$1/small-$round"
  done
}

# Loads the classes of what a mount usually does.
touch_all() {
  mkdir "$1/folder"
  head -c 1M /dev/urandom >"$1/folder/file"
  cp "$1/folder/file" "$1/copy"
  sync "$1/copy"
  dd if="$1/copy" of=/dev/null bs=64k iflag=direct status=none
  ls -lR "$1" >/dev/null
  mv "$1/copy" "$1/folder/copy"
  rm -r "$1/folder"
}
