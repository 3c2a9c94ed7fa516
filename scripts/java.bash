# shellcheck shell=bash
# Functions of the commands: which Java runs them, and with which options. Sourced, not run. Works in the built project and in
# the folder of an installation, which scripts/release fills: bin (this), jars, native, estimate, sdfs-client; and what an installation adds:
# java (a link), and archives: commands and daemon, .jsa or .aot. It starts few processes: each takes milliseconds of a command.

# Names of files in any language, whatever the caller's locale; messages and numbers in plain English.
export LC_ALL=C.UTF-8

# Who sources it names it without links.
commands="${BASH_SOURCE[0]%/*}"
[[ "$commands" == /* ]] || commands="$PWD/$commands"

settings=/etc/default/sdfs

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Takes variables from the settings of the machine, where the caller has none: NAME=VALUE, as systemd reads them. Only an installation
# does: what a clone measures and tests is the same on each machine.
read_settings() {
  local line value
  while read -r line; do
    [[ "$line" =~ ^(JAVA_HOME|SAR_SIM_MEMORY|(SDFS|AWS|HADOOP)_[A-Z_]+)=(.*)$ && ! -v "${BASH_REMATCH[1]}" ]] || continue
    value="${BASH_REMATCH[3]}"
    [[ "$value" != \"*\" ]] || value="${value:1:-1}"
    export "${BASH_REMATCH[1]}=$value"
  done
}
[[ ! -d "$commands/../jars" || ! -r "$settings" ]] || read_settings <"$settings"

# The first release whose JVM keeps what it learned of a run: classes, and profiles of methods (JEP 483, 514, 515).
first_with_aot_cache=25

# Where Linux distributions install JDKs.
jdks=/usr/lib/jvm

# Prints the Java program: of JAVA_HOME, else the one of the installation, else of the JDKs the newest that keeps what it learned, else
# the one of the PATH. Fails if there is none.
find_java() {
  local release feature best="" best_feature=$((first_with_aot_cache - 1))
  if [[ -n "${JAVA_HOME:-}" && -x "$JAVA_HOME/bin/java" ]]; then
    printf '%s\n' "$JAVA_HOME/bin/java"
  elif [[ -x "$commands/../java" ]]; then
    readlink -f "$commands/../java"
  else
    for release in "$jdks"/*/release; do
      [[ -x "${release%release}bin/java" ]] && read_feature "$release" || continue
      if ((feature > best_feature)); then
        best="${release%release}bin/java"
        best_feature="$feature"
      fi
    done
    if [[ -n "$best" ]]; then printf '%s\n' "$best"; else command -v java; fi
  fi
}

# Sets feature to the release that a JDK's release file names, such as 17. Fails if it names none.
read_feature() {
  local text
  read -rd '' text 2>/dev/null <"$1" || :
  [[ "$text" =~ JAVA_VERSION=\"([0-9]+) ]] && feature="${BASH_REMATCH[1]}"
}

# Sets feature to the release of a Java program, such as 17; from the JDK's release file if there is one, because running Java itself
# takes as long as a whole command.
set_feature() {
  local program="$1"
  [[ ! -L "$program" ]] || program="$(readlink -f "$program")"
  read_feature "${program%/bin/*}/release" && return
  feature="$("$1" -version 2>&1 | sed -n '1s/.*"\([0-9]*\).*/\1/p')"
  feature="${feature:-0}"
}

# Sets home, the folder of jars and archives that belongs to the commands; classes, the class path; and estimate, what sdfscli estimate
# adds to that.
find_home() {
  home="${commands%/*}"
  if [[ -d "$home/jars" ]]; then
    classes="$home/jars/*"
    estimate="$home/estimate/*"
  else
    estimate="$home/sar-simulator/target/*"
    home="$home/sdfs-integration/target"
    classes="$home/*:$home/lib/*"
  fi
}

# Waits until a process has ended, also if none reaps it. Fails after the given number of seconds. A process closes its files with its last thread; its
# first thread may have ended long before.
await_end() {
  local line deadline=$((SECONDS + $2))
  local -a threads
  while { read -r line <"/proc/$1/stat"; } 2>/dev/null; do
    threads=("/proc/$1/task"/*)
    [[ "${line##*) }" != [ZX]* ]] || ((${#threads[@]} > 1)) || return 0
    ((SECONDS < deadline)) || return 1
    sleep 0.05
  done
}

# Is there an archive of this name that is not older than the jars? With changed jars a JVM would print errors, and not use it.
has_archive() {
  local jar
  [[ -r "$home/$1" ]] || return 1
  [[ ! -d "$home/jars" ]] || return 0
  for jar in "$home"/*.jar "$home"/lib/*.jar; do
    [[ ! "$jar" -nt "$home/$1" ]] || return 1
  done
}

# Has the daemon of a volume run a command of sdfscli, if it is one that only asks the daemon, and exits: a JVM takes twenty times as long
# to start. Returns if the daemon does not run it, or there is no client; nothing is written then. Arguments: those of sdfscli.
run_by_daemon() {
  local home classes status=0
  find_home
  [[ -x "$home/sdfs-client" && -z "${SDFS_COMMAND_JAVA_OPTS:-}" ]] || return 0
  "$home/sdfs-client" "$@" || status=$?
  ((status == 125)) || exit "$status"
}

# Runs a main class of the project in a JVM tuned for short runs, with the heap in command_heap, or 384 MB: Argon2id for a passphrase takes 256. In the project, builds if
# nothing is built.
run_java() {
  local main_class="$1" home classes estimate java feature
  shift
  find_home
  [[ "$main_class" != *.sim.* ]] || classes+=":$estimate"
  [[ -d "$home/jars" ]] || compgen -G "$home/sdfs-integration-*.jar" >/dev/null || "$commands/build" >&2
  java="$(find_java)" || die "there is no java; install a JDK or JRE of release 17 or later, or set JAVA_HOME"
  set_feature "$java"
  ((feature >= 17)) || die "$java is of release $feature; 17 or later is needed (set JAVA_HOME to a newer one)"
  # Without classes for newer releases, as in the daemon (DaemonJvm): those of zstd-jni may call RocksDB's zstd.
  local -a options=("${command_compiler:--XX:TieredStopAtLevel=1}" -XX:+UseSerialGC "-Xmx${command_heap:-384m}" -XX:-CreateCoredumpOnCrash -Djdk.console=java.base -Djdk.util.jar.enableMultiRelease=false)
  # The daemon inherits these two.
  [[ ! -d "$home/native" ]] || options+=("-Djava.library.path=$home/native" "-Djffi.boot.library.path=$home/native")
  # Archives, which scripts/rehearsal.bash makes: a mount takes a quarter less time. Another JVM ignores them; it must not report that.
  if ((feature >= first_with_aot_cache)) && has_archive commands.aot; then
    options+=("-XX:AOTCache=$home/commands.aot" "-Dsdfs.archive=$home/daemon.aot" -Xlog:disable
      '-Xlog:all=error,aot*=off,cds*=off:stderr')
  elif has_archive commands.jsa; then
    options+=("-XX:SharedArchiveFile=$home/commands.jsa" "-Dsdfs.archive=$home/daemon.jsa" -Xlog:disable
      '-Xlog:all=error,cds*=off:stderr')
  fi
  # Separated by spaces, as SDFS_JAVA_OPTS.
  local -a more
  read -ra more <<<"${SDFS_COMMAND_JAVA_OPTS:-}"
  options+=("${more[@]}")
  ((feature < 22)) || options+=(--enable-native-access=ALL-UNNAMED)
  ((feature < 24)) || options+=(--sun-misc-unsafe-memory-access=allow)
  exec "$java" "${options[@]}" -cp "$classes" "$main_class" "$@"
}
