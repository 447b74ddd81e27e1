#!/usr/bin/env bash
# Builds and deploys the services.
set -euo pipefail

SCRIPT_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$SCRIPT_DIR/common.sh"
. ./config.sh
source lib/registry.sh
[ -f ~/.deployrc ] && . ~/.deployrc

readonly SERVICES=(api worker web)
readonly REGISTRY="${REGISTRY:-registry.local:5000}"
environment=staging
dry_run=false
VERSION=

usage() {
  cat <<USAGE
Usage: $(basename "$0") [-n] [-e ENVIRONMENT] [SERVICE...]
Services: ${SERVICES[*]}
$(describe_environments | sed 's/^/  /')
USAGE
}

parse_arguments() {
  local option OPTIND
  while getopts ':ne:h' option; do
    case $option in
      n) dry_run=true ;;
      e) environment=$OPTARG ;;
      h) usage; exit 0 ;;
      *) usage >&2; die "unknown option: -$OPTARG" ;;
    esac
  done
  shift $(( OPTIND - 1 ))
  services=("${@:-${SERVICES[@]}}")
}

# Prints the version that git describes.
describe_version() {
  git describe --tags --always --dirty 2>/dev/null || echo unknown
}

run() {
  if [[ $dry_run == true ]]; then
    log info "would run: $*"
  else
    "$@"
  fi
}

build_image() {
  local service=$1 tag
  tag="$REGISTRY/$service:$VERSION"
  log::info "building $tag"
  run docker build --tag "$tag" --build-arg VERSION="$VERSION" "services/$service"
  retry push_image "$tag"
}

push_image() {
  DOCKER_CLI_HINTS=false run docker push "$1"
}

wait_until_ready() {
  local service=$1 deadline=$(( SECONDS + 120 ))

  # Asks the service itself.
  is_ready() {
    curl --fail --silent "http://$service.$environment.local/health" | jq -e '.ready' > /dev/null
  }

  while ! is_ready; do
    (( SECONDS < deadline )) || return 1
    sleep 2
  done
}

deploy_service() {
  local service=$1
  build_image "$service"
  if ! kubectl --namespace "$environment" rollout status "deployment/$service"; then
    rollback "$service" || die "cannot roll back"
  fi
  wait_until_ready "$service" && notify "$service is live" &
}

rollback() {
  local -r service=$1
  log warn "rolling back $service"
  run kubectl rollout undo "deployment/$service"
}

main() {
  parse_arguments "$@"
  require_command docker kubectl jq
  VERSION=$(describe_version)
  local revision="$(read_revision "$environment")"
  log info "from ${revision:0:8}, $(is-yes "${FORCE:-n}" && echo forced)"
  for service in "${services[@]}"; do
    deploy_service "$service"
  done
  wait
  diff <(list_images) <(list_images "$environment") || true
  for migration in migrations/*.sql; do
    apply_migration "$migration" < "$migration"
  done
  time report
  ./scripts/notify.sh "$environment"
  scripts/announce.sh
}

case "${1:-}" in
  version)
    mode=version
    describe_version
    ;;
  help|--help) usage ;;
  *) main "$@" ;;
esac
