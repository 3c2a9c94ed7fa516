# shellcheck shell=bash
# Common to the scripts: where the project is, which Java runs it, what must be installed. Sourced, not run.

# The project's folder, also when the script is called through a link.
project="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"

# Names of files in any language, whatever the caller's locale; messages and numbers in plain English.
export LC_ALL=C.UTF-8

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Prints the Java program: of JAVA_HOME, else of the PATH. Fails if there is none.
find_java() {
  if [[ -n "${JAVA_HOME:-}" && -x "$JAVA_HOME/bin/java" ]]; then
    printf '%s\n' "$JAVA_HOME/bin/java"
  else
    command -v java
  fi
}

# Prints the release of a Java program, such as 17; from the JDK's release file where there is one, since asking Java itself
# takes as long as a whole command.
java_feature() {
  local home version
  home="$(dirname "$(dirname "$(readlink -f "$1")")")"
  if [[ -r "$home/release" ]]; then
    version="$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release")"
  else
    version="$("$1" -version 2>&1 | sed -n '1s/.*"\([0-9]*\).*/\1/p')"
  fi
  printf '%s\n' "${version:-0}"
}

# Is there a JDK, not only a JRE, of release 17 or later?
have_jdk() {
  local java
  java="$(find_java)" || return 1
  [[ -x "$(dirname "$(readlink -f "$java")")/javac" && "$(java_feature "$java")" -ge 17 ]]
}

# Is there libfuse 2, for the jnr binding?
have_libfuse2() {
  [[ -n "$(find /lib/ /usr/lib/ /usr/local/lib/ -maxdepth 2 -name 'libfuse.so.2' -print -quit 2>/dev/null)" ]]
}

# Prints the first of these packages that the system's sources have, else the last.
first_package() {
  local package
  for package in "$@"; do
    [[ -z "$(apt-cache madison "$package" 2>/dev/null)" ]] || break
  done
  printf '%s\n' "$package"
}

# Prints the Debian packages that lack. The argument "tests" asks for what only the tests need as well.
missing_packages() {
  have_jdk || first_package openjdk-17-jdk-headless default-jdk-headless
  command -v mvn >/dev/null || echo maven
  command -v fusermount3 >/dev/null || echo fuse3
  [[ "${1:-}" != tests ]] || have_libfuse2 || first_package libfuse2t64 libfuse2
}

# Sees to JDK, Maven and fuse3, for tests also to libfuse 2: as root installs what lacks, as a user says what to install.
# Arguments as of missing_packages.
set_up() {
  local -a missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if [[ "$(id -u)" -ne 0 ]]; then
    die "missing: ${missing[*]}. Install with: sudo apt-get install ${missing[*]}"
  fi
  command -v apt-get >/dev/null ||
    die "install a JDK (17 or later), Maven, fuse3 and libfuse2; this system has no apt-get, so that is left to you"
  apt-get update -q
  mapfile -t missing < <(missing_packages "$@")
  echo "Installing: ${missing[*]}"
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
  have_jdk || die "the java of the PATH is older than 17; set JAVA_HOME to a newer JDK"
}

# Runs a main class of ours in a JVM tuned for a short life. Builds if nothing is built.
run_java() {
  local main_class="$1" java feature
  shift
  local target="$project/sdfs-integration/target"
  compgen -G "$target/sdfs-integration-*.jar" >/dev/null || "$project/scripts/build" >&2
  java="$(find_java)" || die "no Java; run $project/scripts/build"
  feature="$(java_feature "$java")"
  local -a options=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -Xmx256m)
  ((feature < 22)) || options+=(--enable-native-access=ALL-UNNAMED)
  ((feature < 24)) || options+=(--sun-misc-unsafe-memory-access=allow)
  exec "$java" "${options[@]}" -cp "$target/*:$target/lib/*" "$main_class" "$@"
}
