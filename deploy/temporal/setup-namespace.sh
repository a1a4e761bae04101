#!/bin/sh
# Creates our namespace, kept for a month, and our search attributes. Safe to repeat.
set -eu
export TEMPORAL_ADDRESS="${TEMPORAL_ADDRESS:-127.0.0.1:7233}"
namespace="${TEMPORAL_NAMESPACE:-default}"

# retry COMMAND...: for two minutes; a server that has just started refuses for a while.
retry() {
  attempt=1
  until "$@"; do
    if [ "$attempt" -ge 120 ]; then
      echo "cannot set up namespace $namespace at $TEMPORAL_ADDRESS: '$*' fails" >&2
      exit 1
    fi
    attempt=$((attempt + 1))
    sleep 1
  done
}

exists() {
  temporal operator namespace describe --namespace "$namespace" >/dev/null 2>&1
}

create() {
  exists || temporal operator namespace create --namespace "$namespace" --retention 720h || exists
}

retry temporal operator cluster health
retry create
set --
for attribute in ShootName Project SeedName Operation Phase ErrorCode; do
  set -- "$@" --name "$attribute" --type Keyword
done
retry temporal operator search-attribute create --namespace "$namespace" "$@"
