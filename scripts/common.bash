# shellcheck shell=bash
# Common to the scripts that build: where the project is, what must be installed. Sourced, not run.

# The project's folder, also when the script is called through a link.
project="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"

source "$project/scripts/java.bash"

# Is there a JDK, not only a JRE, of release 17 or later?
have_jdk() {
  local java
  java="$(find_java)" || return 1
  [[ -x "$(dirname "$(readlink -f "$java")")/javac" && "$(java_feature "$java")" -ge 17 ]]
}

# Prints the Debian packages that lack.
missing_packages() {
  if ! have_jdk; then
    if [[ -n "$(apt-cache madison openjdk-17-jdk-headless 2>/dev/null)" ]]; then
      echo openjdk-17-jdk-headless
    else
      echo default-jdk-headless
    fi
  fi
  command -v mvn >/dev/null || echo maven
  command -v fusermount3 >/dev/null || echo fuse3
}

# Sees to JDK, Maven and fuse3: as root installs what lacks, as a user says what to install.
set_up() {
  local -a missing
  if [[ "$(id -u)" -eq 0 ]] && ! { have_jdk && command -v mvn && command -v fusermount3; } >/dev/null; then
    command -v apt-get >/dev/null ||
      die "install a JDK (17 or later), Maven and fuse3; this system has no apt-get, so that is left to you"
    apt-get update -q
    mapfile -t missing < <(missing_packages)
    echo "Installing: ${missing[*]}"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
    have_jdk || die "the java of the PATH is older than 17; set JAVA_HOME to a newer JDK"
    return
  fi
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]})); then
    die "missing: ${missing[*]}. Install with: sudo apt-get install ${missing[*]}"
  fi
}
