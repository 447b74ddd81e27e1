#!/usr/bin/env bats
# Tests of the deployment.

load test_helper
load '../vendor/bats-assert/load'
source "${BATS_TEST_DIRNAME}/../deploy.sh"

setup() {
  fixture=$(mktemp -d)
  stub docker 'echo "docker $*"'
}

teardown() {
  rm -rf "$fixture"
  unset -f stub
}

# Replaces a program by a function.
stub() {
  eval "$1() { $2; }"
}

@test "usage names the services" {
  run usage
  [ "$status" -eq 0 ]
  assert_output --partial 'api worker web'
}

@test 'a dry run changes nothing' {
  dry_run=true
  run build_image api
  assert_success
  refute_output --partial 'docker build'
}

@test "an unknown option ends it" {
  run parse_arguments -x
  [[ "$output" == *"unknown option"* ]]
  setup
}
