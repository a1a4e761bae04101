#!/bin/sh
# Makes an authority and certificates for Temporal's gateway and its callers, where no other issuer is at hand:
#   deploy/temporal/make-certificates.sh FOLDER GATEWAY_HOST SEED...
# What is there is kept: to renew a certificate, remove its file and run this again. Keep ca.key off the machines.
set -eu
folder=$1 host=$2
shift 2
umask 077
mkdir -p "$folder"
cd "$folder"

key() { [ -e "$1.key" ] || openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }

issue() { # NAME SUBJECT EXTENSIONS
  [ ! -e "$1.crt" ] || return 0
  key "$1"
  printf '%s\n' "$3" > "$1.ext"
  openssl req -new -key "$1.key" -subj "$2" |
    openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -extfile "$1.ext" -out "$1.crt"
  rm "$1.ext"
}

key ca
[ -e ca.crt ] || openssl req -x509 -new -key ca.key -days 3650 -subj "/CN=perennial temporal" -out ca.crt
case $host in *[!0-9.]*) name="DNS:$host" ;; *) name="IP:$host" ;; esac
issue gateway "/CN=perennial:gateway" "subjectAltName=$name,DNS:temporal-gateway.perennial.svc
extendedKeyUsage=serverAuth"
issue garden "/O=perennial:garden/CN=perennial:garden" "extendedKeyUsage=clientAuth"
for seed in "$@"; do
  issue "$seed" "/O=perennial:seeds/CN=perennial:seed:$seed" "extendedKeyUsage=clientAuth"
done
for keys in gateway-keys payload-keys; do
  [ -e "$keys.json" ] ||
    printf '{"keys": [{"id": "%s", "secret": "%s"}]}\n' "$(openssl rand -hex 4)" "$(openssl rand -base64 32)" > "$keys.json"
done
