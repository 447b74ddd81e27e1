# Functions that the scripts of this folder share. Source it, do not run it.
# shellcheck shell=bash

[[ -n "${COMMON_LOADED:-}" ]] && return 0
readonly COMMON_LOADED=1

declare -r LOG_FORMAT='%(%F %T)T %-5s %s\n'
declare -A LOG_LEVELS=([debug]=0 [info]=1 [warn]=2 [error]=3)
declare -gx LOG_LEVEL
LOG_LEVEL=${LOG_LEVEL:-info}
typeset -ri MAX_ATTEMPTS=5
export LC_ALL=C TZ=UTC
color_red=$'\e[31m' color_none=$'\e[0m'
temporary_files=()

if [[ -t 2 ]]; then
  use_color=yes
elif [[ -n "$FORCE_COLOR" ]]; then
  use_color=forced
else
  use_color=no
fi

# Writes a line to standard error, if its level is high enough.
#
# Arguments: level, words of the message
log() {
  local level=$1
  shift
  (( LOG_LEVELS[$level] >= LOG_LEVELS[$LOG_LEVEL] )) || return 0
  # shellcheck disable=SC2059
  printf "$LOG_FORMAT" -1 "$level" "$*" >&2
}

log::info() { log info "$@"; }
log::error() { log error "${color_red}$*${color_none}"; }

# Ends the script.
function die {
  log::error "$@"
  exit "${2:-1}"
}

function require_command() {
  local command
  for command in "$@"; do
    command -v "$command" > /dev/null || die "missing: $command"
  done
}

# Runs a command again until it succeeds.
retry() {
  local -i attempt=1
  local delay=${RETRY_DELAY:-1}
  until "$@"; do
    if (( attempt++ >= MAX_ATTEMPTS )); then
      log::error "gave up: $*"
      return 1
    fi
    sleep "$delay"
    delay=$(( delay * 2 ))
  done
}

make_temporary() {
  local -n result=$1
  result=$(mktemp -d) || die 'no temporary folder'
  temporary_files+=("$result")
}

cleanup() (
  shopt -s nullglob
  for file in "${temporary_files[@]}"; do
    rm -rf -- "$file"
  done
)

is-yes() [[ ${1,,} == y* ]]

confirm() {
  local reply check=0
  read -r -p "$1 [y/N] " reply
  check "$reply" && is-yes "$reply"
}

check() {
  [[ $1 =~ ^[a-z]+$ ]]
}

trap cleanup EXIT
trap "cleanup" INT TERM
export -f log retry
