#!/bin/sh
# Makes every key, certificate and password that compose.yaml asks for, in deploy/secrets, and leaves
# alone what is there already. To renew a thing, move its file away and run this again.
set -eu
umask 077
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
mkdir -p "$here/secrets"
cd "$here/secrets"

# The folder is closed to others; the files are open, because the containers' users have other
# numbers than you and Compose hands files over as they are. The two keys that no container needs
# stay closed.
hand_over() { chmod 644 "$@"; }

# password NAME [BYTES]
password() {
  [ -f "$1" ] || openssl rand -hex "${2:-24}" >"$1"
  hand_over "$1"
}

# An Ed25519 pair: NAME.pem signs, NAME.pub.pem verifies.
signing_pair() {
  [ -f "$1.pem" ] || openssl genpkey -algorithm ed25519 -out "$1.pem"
  openssl pkey -in "$1.pem" -pubout -out "$1.pub.pem"
  hand_over "$1.pub.pem"
}

elliptic() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "$@" 2>/dev/null; }

authority() {
  [ -f ca.crt ] || elliptic -x509 -days 3650 -subj "/CN=sabacc inside" -keyout ca.key -out ca.crt \
    -addext "keyUsage=critical,keyCertSign,cRLSign"
  hand_over ca.crt
}

# Shown to whoever calls the service, and by the service to whomever it calls.
certificate() {
  if ! [ -f "$1.crt" ]; then
    elliptic -subj "/CN=$1" -keyout "$1.key" -out "$1.csr"
    printf 'subjectAltName=DNS:%s\nbasicConstraints=critical,CA:FALSE\n' "$1" >"$1.ext"
    printf 'keyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth,clientAuth\n' >>"$1.ext"
    openssl x509 -req -in "$1.csr" -days 800 -CA ca.crt -CAkey ca.key -set_serial "0x$(openssl rand -hex 16)" \
      -extfile "$1.ext" -out "$1.crt" 2>/dev/null
    rm "$1.csr" "$1.ext"
  fi
  hand_over "$1.crt" "$1.key"
}

# A configuration file with the one setting that holds a password.
database() {
  printf 'database_url = "postgres://%s:%s@postgres/sabacc?sslmode=disable"\n' "$2" "$(cat "$3")" >"$1.toml"
  hand_over "$1.toml"
}

password db_admin
database migrate postgres db_admin
authority
for service in table dealer wallet gateway; do
  certificate "$service"
done
for service in table dealer wallet; do
  password "db_$service"
  database "$service" "sabacc_$service" "db_$service"
done

# Who lets people in, and the two services that call others in their own name.
signing_pair door
for service in table gateway; do
  signing_pair "$service"
  hand_over "$service.pem"
done

# What each log signs its checkpoints with (the dealer's its commitments too), and what seeds at rest
# are sealed under.
for log in dealer table_log wallet_log; do
  signing_pair "$log"
  hand_over "$log.pem"
  # Keys that signed before, each behind a line `until SIZE`; normally none.
  [ -f "${log}_previous" ] || : >"${log}_previous"
  hand_over "${log}_previous"
done
password seed_key 32
# Keys that seeds were sealed under before, one a line; normally none.
[ -f seed_key_previous ] || : >seed_key_previous
hand_over seed_key_previous
# What the players' own keys are wrapped under.
password people_key 32
[ -f people_key_previous ] || : >people_key_previous
hand_over people_key_previous

echo "Made in $PWD. Copy all of it to a safe place; door.pem and ca.key belong nowhere else."
