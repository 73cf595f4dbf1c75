# What is hashed and signed, in a shell. Bytes are hexadecimal text in lower case here; `hex` and `bytes`
# turn them from and into bytes. To be read by play.sh.
# shellcheck shell=sh

# The folder for passing files, which the reader of this file names.
: "${work:?}"

# hex: bytes to text.
hex() { od -An -v -tx1 | tr -d ' \n'; }
# bytes: text to bytes.
bytes() { tr a-f A-F | basenc --base16 -d; }
# text STRING: the bytes of a string.
text() { printf %s "$1" | hex; }
# to64 HEX: for a field of JSON of type `bytes`.
to64() { printf %s "$1" | bytes | base64 -w0; }

# u8 NUMBER, u64 NUMBER: big-endian.
u8() { printf %02x "$1"; }
u64() { printf %016x "$1"; }

# lp FIELD...: each field behind its length in bytes.
lp() {
  for field; do
    printf '%08x%s' "$((${#field} / 2))" "$field"
  done
}

# sha256 HEX
sha256() { printf %s "$1" | bytes | sha256sum | cut -c1-64; }

# tagged TAG FIELD...: the hash of the protocol.
tagged() {
  tag=$(text "sabacc/fair/v1/$1")
  shift
  sha256 "$(lp "$tag" "$@")"
}

# key_id KEY: how a signed text names its key.
key_id() { sha256 "$1" | cut -c1-16; }

# signed_text TAG KEY FIELD...: what is signed.
signed_text() {
  tag=$(text "$1")
  id=$(key_id "$2")
  shift 2
  lp "$tag" "$@" "$id"
}

# new_key FILE: a fresh Ed25519 key; prints the public one.
new_key() {
  openssl genpkey -algorithm ed25519 -out "$1"
  openssl pkey -in "$1" -pubout -outform DER | tail -c 32 | hex
}

# sign FILE MESSAGE: prints the signature.
sign() {
  printf %s "$2" | bytes >"$work/message"
  openssl pkeyutl -sign -inkey "$1" -rawin -in "$work/message" | hex
}

# check_signature KEY MESSAGE SIGNATURE WHAT: ends the program where it is not the key's.
check_signature() {
  # A public key in DER is this beginning and its 32 bytes.
  printf '302a300506032b6570032100%s' "$1" | bytes >"$work/key"
  printf %s "$2" | bytes >"$work/message"
  printf %s "$3" | bytes >"$work/signature"
  openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key" -rawin -in "$work/message" \
    -sigfile "$work/signature" >"$work/verified" || fail "$4 is not signed"
}

# log_key NAME FILE: the key of a log in a keys file, whose lines are ORIGIN+HASH+KEY.
log_key() { grep "/$1+" "$2" | cut -d+ -f3- | base64 -d | hex | cut -c3-; }
