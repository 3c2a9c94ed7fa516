# shellcheck shell=bash
# Functions of the scripts that build: the project's folder, the packages to install. Sourced, not run.

# The project's folder, also when the script is called through a link.
project="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"

source "$project/scripts/java.bash"

# Is there a JDK for Maven, not only a JRE, of release 17 or later? Maven takes that of JAVA_HOME, else the one of the PATH.
have_jdk() {
  local javac feature
  javac="$(readlink -f "$(command -v "${JAVA_HOME:+$JAVA_HOME/bin/}javac")")" && set_feature "${javac%c}" && ((feature >= 17))
}

# Prints the first of these packages that the system's sources have, else the last.
first_package() {
  local package
  for package in "$@"; do
    [[ -z "$(apt-cache madison "$package" 2>/dev/null)" ]] || break
  done
  printf '%s\n' "$package"
}

# Prints the missing Debian packages. With the argument "release", also those that only a release needs; with "tests", those of both.
missing_packages() {
  have_jdk || first_package openjdk-17-jdk-headless default-jdk-headless
  command -v mvn >/dev/null || echo maven
  command -v fusermount3 >/dev/null || echo fuse3
  [[ -n "${1:-}" ]] || return 0
  command -v cc >/dev/null || printf '%s\n' gcc libc6-dev
  command -v python3 >/dev/null || echo python3
  [[ "$1" == tests ]] || return 0
  python3 -m pip --version >/dev/null 2>&1 || echo python3-pip
  command -v setfacl >/dev/null || echo acl
  command -v setfattr >/dev/null || echo attr
  command -v mkfs.xfs >/dev/null || echo xfsprogs
  command -v mkfs.btrfs >/dev/null || echo btrfs-progs
  command -v debootstrap >/dev/null || echo debootstrap
  command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || echo chromium
}

# Requires JDK, Maven and fuse3, for a release and tests also what only they need: as root installs missing ones, as another user prints
# what to install. Arguments as of missing_packages.
set_up() {
  local -a missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if [[ "$(id -u)" -ne 0 ]]; then
    die "missing: ${missing[*]}. Install with: sudo apt-get install ${missing[*]}"
  fi
  command -v apt-get >/dev/null ||
    die "install a JDK (17 or later), Maven, fuse3, and for a release and the tests python3 and a C compiler; this system has no apt-get" \
      "to install them"
  apt-get update -q
  mapfile -t missing < <(missing_packages "$@")
  echo "Installing: ${missing[*]}"
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
  have_jdk || die "the javac of the PATH is older than 17; set JAVA_HOME to a newer JDK"
}

# Makes the client that has the daemon run commands of sdfscli. Without it, or a C compiler, each runs in a JVM.
build_client() {
  local source="$project/scripts/sdfs-client.c" client="$project/sdfs-integration/target/sdfs-client"
  command -v cc >/dev/null || return 0
  [[ "$client" -nt "$source" ]] || cc -O2 -Wall -Wextra -o "$client" "$source"
}

# Puts the libraries that only addresses of s3:// and hdfs:// need where the program looks: beside the folder of its jars.
link_optional() {
  local scheme
  mkdir -p "$project/sdfs-integration/target/optional"
  for scheme in s3 hdfs; do
    ln -sfn "../../../sar-$scheme/target/optional" "$project/sdfs-integration/target/optional/$scheme"
  done
}
