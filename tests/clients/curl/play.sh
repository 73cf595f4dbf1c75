#!/bin/sh
# Plays one hand of a game with curl alone: play.sh URL GAME KEYS OUT
#
# KEYS is a file with the public keys of the room's logs. The hand's bundle is written to OUT/GAME.sabacc,
# the seat to OUT/GAME.seat. Needs curl, jq, OpenSSL 3 and GNU coreutils.
#
# Every call is a POST of JSON, as Connect says: names are those of the .proto files in camelCase, bytes
# are base64, 64-bit numbers are strings, and what stands at its default is left out. What comes is read by
# jq, as few times as can be; what goes is made of ids, numbers and base64, so nothing in it needs quoting.
set -eu
url=$1 game=$2 keys=$3 out=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/clients/curl/fair.sh
. "$here/fair.sh"

fail() {
  printf 'curl: %s\n' "$*" >&2
  exit 1
}

# check WHAT A B: ends the program where the two differ.
check() { [ "$2" = "$3" ] || fail "$1: $2 is not $3"; }

# request_id: a UUIDv7, which is milliseconds and random bits.
request_id() {
  printf '%012x%s' "$(date +%s%3N)" "$(openssl rand -hex 9)" |
    sed 's/^\(.\{8\}\)\(.\{4\}\)\(.\{3\}\)\(.\{3\}\)\(.\{12\}\)/\1-\2-7\3-a\4-\5/'
}

# call SERVICE/METHOD JSON FILE: writes the answer to the file. A refusal is written too, and has status 22.
# Where the room is behind (429) or nobody knows what came of the call (503) curl makes it again, after as
# many seconds as `retry-after` says. That is safe: a command has a requestId, and the same one counts once.
call() {
  curl -sS --fail-with-body --retry 10 --max-time 60 ${token:+-H "authorization: Bearer $token"} --json "$2" \
    -o "$3" "$url/sabacc.table.v1.$1" 2>"$work/curl" || return 22
}

# twice SERVICE/METHOD JSON FILE: makes a command, and the same one again, as a caller does that has got no
# answer: it counts once, and has one answer.
twice() {
  call "$1" "$2" "$3" || return 22
  call "$1" "$2" "$work/again"
  cmp -s "$3" "$work/again" || fail "$1: a repeated command got another answer"
}

# get FILTER FILE: fields of JSON as text, a line each; an empty one where a field stands at its default.
# fair.jq has filters for bytes.
get() { jq -r -L "$here" --argjson seat "${seat:-0}" "include \"fair\"; $1" "$2"; }

# ---- Signing in, a table, a seat

token=''
# Only who has the secret can repeat the call.
sign_in_secret=$(head -c 32 /dev/urandom | base64)
call PeopleService/SignInAsGuest \
  "{\"requestId\": \"$(request_id)\", \"name\": \"curl\", \"signInSecret\": \"$sign_in_secret\"}" "$work/guest"
get '(.playerId | uuid), .tokens.accessToken' "$work/guest" >"$work/fields"
{ read -r player && read -r access_token; } <"$work/fields"

# Looking needs no token.
call TableService/ListTables '{}' "$work/tables"
table_id=$(get "first(.tables[] | select(.variant == \"$game\" and (.seated // 0) < .seats) | .tableId)" "$work/tables")
[ -n "$table_id" ] || fail "no table of $game has a free seat"
table=$(printf %s "$table_id" | tr -d -)

token=$access_token
call TableService/GetTable "{\"tableId\": \"$table_id\"}" "$work/view"
credits=$(get .table.maxBuyInCredits "$work/view")
twice TableService/SitDown \
  "{\"requestId\": \"$(request_id)\", \"tableId\": \"$table_id\", \"buyInCredits\": \"$credits\"}" "$work/seated" ||
  fail "no seat was given: $(cat "$work/seated")"
seat=$(get .seat "$work/seated")

# ---- Chance: commit, check the closing, reveal

dealer_key=$(log_key dealer "$keys")
table_key=$(log_key table "$keys")
hand_no=''
revealed=''

# receipt TAG FILE FIELD...: checks the table's signature under a receipt: over the fields and its position.
receipt() {
  receipt_tag=$1
  get '(.receipt.position | u64), (.receipt.signature | bytes), (.receipt.chain | bytes)' "$2" >"$work/fields"
  shift 2
  { read -r position && read -r signature && read -r receipt_chain; } <"$work/fields"
  message=$(signed_text "$receipt_tag" "$table_key" "$@" "$position")
  check_signature "$table_key" "$message" "$signature" "the receipt"
}

# commit PART: commits to entropy for the hand that this part of the view tells of: `nextHand`, the hand to
# come, or `entropy`, one that is open and takes commitments.
commit() {
  get ".table.$1 | .handNo, (.ruleSet | text | lp) + (.settings | text | lp), (.commitment.origin | text),
    (.commitment.commitment | bytes), (.commitment.signature | bytes)" "$work/view" >"$work/fields"
  { read -r hand_no && read -r texts && read -r origin && read -r dealer && read -r promise; } <"$work/fields"
  rules=$(sha256 "$texts")
  context=$(tagged ctx "$origin" "$table" "$(u64 "$hand_no")" "$rules")
  message=$(signed_text dealer-commit-sig "$dealer_key" "$origin" "$table" "$(u64 "$hand_no")" "$rules" "$dealer")
  check_signature "$dealer_key" "$message" "$promise" "the dealer's commitment"
  entropy=$(openssl rand -hex 32)
  public=$(new_key "$work/own.pem")
  commitment=$(tagged client-commit "$context" "$dealer" "$(u8 "$seat")" "$player" "$entropy")
  if ! twice TableService/CommitEntropy "{\"requestId\": \"$(request_id)\", \"tableId\": \"$table_id\",
    \"handNo\": \"$hand_no\", \"commitment\": \"$(to64 "$commitment")\", \"key\": \"$(to64 "$public")\"}" "$work/receipt"; then
    hand_no='' # Too late for this number: the next one will be announced.
    return
  fi
  receipt receipt-sig "$work/receipt" "$context" "$dealer" "$(u8 "$seat")" "$player" "$commitment" "$public"
}

# reveal: reveals what was committed to, once the dealer has signed that the hand is made of it.
reveal() {
  # shellcheck disable=SC2016
  get '.table.entropy.closing | (.rows | (length | u8 | lp) + (map(closing_row | lp) | add)), (.closing | bytes),
    (.signature | bytes), (first(.rows[] | select(.seat == $seat) | .commitment | bytes) // "")' "$work/view" >"$work/fields"
  { read -r rows && read -r told && read -r signature && read -r own; } <"$work/fields"
  if [ -z "$own" ]; then
    hand_no='' # Not dealt in yet, or too late: the next one.
    return
  fi
  check "our commitment in the closing" "$own" "$commitment"
  closing=$(sha256 "$(lp "$(text sabacc/fair/v1/closing)" "$context" "$dealer")$rows")
  check "the closing" "$closing" "$told"
  message=$(signed_text closing-sig "$dealer_key" "$context" "$dealer" "$closing")
  check_signature "$dealer_key" "$message" "$signature" "the closing"
  call TableService/RevealEntropy "{\"requestId\": \"$(request_id)\", \"tableId\": \"$table_id\",
    \"handNo\": \"$hand_no\", \"entropy\": \"$(to64 "$entropy")\"}" "$work/reveal" ||
    fail "the reveal was refused: $(cat "$work/reveal")"
  if ! grep -q receipt "$work/reveal"; then
    # Later than `reveal_ms` after the closing: the number is burnt, and we are not dealt in for a while.
    hand_no=''
    return
  fi
  receipt reveal-receipt-sig "$work/reveal" "$context" "$dealer" "$(u8 "$seat")" "$player" "$entropy"
  revealed=$hand_no
}

# check_transcript: the hand that has started is made of what the seats brought.
check_transcript() {
  get '.table.hand | (.rows | (length | u8 | lp) + (map(transcript_row | lp) | add)), (.transcript | bytes)' \
    "$work/view" >"$work/fields"
  { read -r rows && read -r told; } <"$work/fields"
  # The empty field is the place of a public beacon; none is defined.
  transcript=$(sha256 "$(lp "$(text sabacc/fair/v1/transcript)" "$context" "$dealer" '')$rows")
  check "the transcript" "$transcript" "$told"
}

# ---- Decisions

# decide: makes one of the legal moves, from LegalMove alone, and signs it. See move.jq.
decide() {
  jq -r -L "$here" --argjson seat "$seat" --argjson random "$(od -An -N2 -tu2 /dev/urandom)" -f "$here/move.jq" \
    "$work/view" >"$work/fields"
  { read -r no && read -r turn && read -r chain && read -r line && read -r said && read -r move; } <"$work/fields"
  signature=''
  if [ "$no" = "$revealed" ]; then
    chain=$(tagged decision "$chain" 00 "$line")
    message=$(signed_text decision-sig "$public" "$context" "$chain" "$said")
    signature=$(to64 "$(sign "$work/own.pem" "$message")")
  fi
  if ! twice TableService/Act "{\"requestId\": \"$(request_id)\", \"tableId\": \"$table_id\", \"handNo\": \"$no\",
    \"turn\": $turn, \"decision\": $move, \"signature\": \"$signature\"}" "$work/acted"; then
    # The clock was faster, or a leave has come between: the next look says what is due.
    grep -q 'NOT_YOUR_TURN\|SIGNATURE_INVALID' "$work/acted" || fail "a legal move was refused: $(cat "$work/acted")"
    return
  fi
  [ -n "$signature" ] || return 0
  receipt decision-receipt-sig "$work/acted" "$context" "$chain"
  check "the chain in the receipt" "$chain" "$receipt_chain"
  decided=$((decided + 1))
}

# ---- Following the table

# watch SECONDS: follows the table for so long, from where the last stream was dropped, and writes each
# message to `updates`. A stream of Connect is messages behind a byte of flags and their length.
watch() {
  body="{\"tableId\": \"$table_id\", \"resumeToken\": \"$resume\"}"
  { printf '00%08x' "${#body}" | bytes && printf %s "$body"; } >"$work/request"
  # The stream is cut off by --max-time: that is no failure here.
  curl -sS -N --max-time "$1" -H "authorization: Bearer $token" -H 'content-type: application/connect+json' \
    --data-binary @"$work/request" "$url/sabacc.table.v1.TableService/WatchTable" >"$work/stream" 2>"$work/curl" || true
  size=$(wc -c <"$work/stream") at=0
  : >"$work/messages"
  while [ $((at + 5)) -le "$size" ]; do
    # shellcheck disable=SC2046
    set -- $(od -An -tu1 -j "$at" -N 5 "$work/stream")
    length=$((($2 << 24) + ($3 << 16) + ($4 << 8) + $5))
    # What was cut off in the middle is sent again. A flag of 2 marks the end of the stream.
    [ "$1" -lt 2 ] && [ $((at + 5 + length)) -le "$size" ] || break
    tail -c +$((at + 6)) "$work/stream" | head -c "$length" >>"$work/messages"
    at=$((at + 5 + length))
  done
  [ -s "$work/messages" ] || return 0
  jq -c . "$work/messages" >>"$work/updates"
  resume=$(tail -n 1 "$work/updates" | sed 's/.*"resumeToken":"\([^"]*\)".*/\1/')
}

# check_updates: nothing was missed or repeated over all the streams, but where a snapshot took its place, as
# where a resume token is too old; and the decisions that we were told of give the chain, from the transcript on.
check_updates() {
  # shellcheck disable=SC2016
  jq -s 'reduce .[] as $message ({at: null, wrong: []};
      if $message.snapshot then .at = ($message.snapshot.sequence // 0 | tonumber)
      elif $message.update then ($message.update.sequence | tonumber) as $next
        | .wrong += [select(.at != null and $next != .at + 1) | "\($next) behind \(.at)"] | .at = $next
      else . end) | .wrong' "$work/updates" >"$work/wrong"
  check "updates that are missing, or came twice" "$(jq -c . "$work/wrong")" "[]"
  get ".snapshot.hand // .update.action // empty | select(.handNo == \"$revealed\" and (.chainLine or .seats))
    | [(if .seats then \"snapshot\" elif .byClock then \"01\" else \"00\" end), (.chain | bytes),
      (.chainLine // \"\" | text)] | join(\" \")" "$work/updates" >"$work/decisions"
  chain=$transcript
  while read -r by_clock told line; do
    if [ "$by_clock" = snapshot ]; then
      chain=$told
    else
      chain=$(tagged decision "$chain" "$by_clock" "$line")
      check "the chain of decisions" "$chain" "$told"
    fi
  done <"$work/decisions"
}

# ---- One hand

# look: reads the table as we may see it, and what is to be done there.
look() {
  call TableService/GetTable "{\"tableId\": \"$table_id\"}" "$work/view" || fail "$(cat "$work/view")"
  # shellcheck disable=SC2016
  get '.table | .entropy as $open | [.handNo, .nextHand.handNo,
      (if $open.closed then 0 elif $open.roster // [] | index($seat) then $open.handNo else 0 end),
      (if $open.closed then $open.handNo else 0 end), .hand.handNo, .hand.turn.seat]
    | map(. // 0) | join(" ")' "$work/view" >"$work/state"
  read -r table_no next_no open_no closed_no hand_in_play turn_seat <"$work/state"
}

resume='' decided=0 transcript='' seed=''
: >"$work/updates"
while [ -z "$seed" ]; do
  look
  if [ -z "$revealed" ]; then
    # We have no part in a hand yet: nothing else comes first, for the time to commit and reveal is short.
    if [ -n "$hand_no" ] && [ "$closed_no" = "$hand_no" ]; then
      reveal
    elif [ -n "$hand_no" ] && [ "$table_no" -gt "$hand_no" ]; then
      hand_no='' # That number came to nothing.
    fi
    if [ -z "$hand_no" ] && [ "$open_no" != 0 ]; then
      commit entropy
    elif [ -z "$hand_no" ] && [ "$next_no" -gt "$table_no" ]; then
      commit nextHand
    fi
  elif [ -z "$transcript" ] && [ "$hand_in_play" = "$revealed" ]; then
    check_transcript
  fi
  if [ "$turn_seat" = "$seat" ] && [ "$table_no" = "${revealed:-$table_no}" ]; then
    decide
  elif [ -n "$transcript" ]; then
    watch 0.4
    seed=$(get ".update.seed // empty | select(.handNo == \"$revealed\") | .seed | bytes" "$work/updates")
    # A shell is slow: a snapshot may have taken the place of the update that opens it. Then the bundle tells it.
    [ -n "$seed" ] || [ "$table_no" -lt $((revealed + 3)) ] || seed=missed
  elif [ -z "$resume" ]; then
    watch 0.3
  else
    sleep 0.1
  fi
done
call TableService/StandUp "{\"requestId\": \"$(request_id)\", \"tableId\": \"$table_id\"}" "$work/left"

[ "$decided" -gt 0 ] || fail "nothing was decided"
check_updates
# Whoever verifies the bundle checks it too.
[ "$seed" = missed ] || check "the dealer's commitment" "$(tagged dealer-commit "$context" "$seed")" "$dealer"
# The last records of a hand, and a checkpoint over them, may take a moment.
sleep 2
curl -sS --fail --retry 5 -o "$out/$game.sabacc" "$url/hands/$table_id/$revealed.sabacc"
printf %s "$seat" >"$out/$game.seat"
printf '%s: hand %s is over; seat %s has decided %s times, and followed it over streams that broke\n' \
  "$game" "$revealed" "$seat" "$decided"
