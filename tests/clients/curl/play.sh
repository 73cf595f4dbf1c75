#!/bin/sh
# Plays one hand of a game with curl alone: play.sh URL GAME KEYS OUT
#
# KEYS is a file with the public keys of the room's logs. The hand's bundle is written to OUT/GAME.sabacc,
# the seat to OUT/GAME.seat. Needs curl, jq, OpenSSL 3 and GNU coreutils.
#
# Every call is a POST of JSON, as Connect says: names are those of the .proto files in camelCase, bytes
# are base64, 64-bit numbers are strings, and what stands at its default is left out.
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
  at=$(printf %012x "$(date +%s%3N)")
  random=$(openssl rand -hex 9)
  printf '%s-%s-7%s-a%s-%s\n' "$(printf %s "$at" | cut -c1-8)" "$(printf %s "$at" | cut -c9-12)" \
    "$(printf %s "$random" | cut -c1-3)" "$(printf %s "$random" | cut -c4-6)" \
    "$(printf %s "$random" | cut -c7-18)"
}

# call SERVICE/METHOD JSON: prints the answer. A refusal is printed too, and ends with status 22. Where the
# room is behind (429) or nobody knows what came of the call (503) curl makes it again, after as many
# seconds as `retry-after` says. That is safe: a command has a requestId, and the same one counts once.
call() {
  set -- "$1" "$2" ok
  curl -sS --fail-with-body --retry 10 --max-time 60 ${token:+-H "authorization: Bearer $token"} --json "$2" \
    -o "$work/answer" "$url/sabacc.table.v1.$1" 2>"$work/curl" || set -- "$1" "$2" refused
  cat "$work/answer"
  [ "$3" = ok ] || return 22
}

# refused JSON: why.
refused() { printf %s "$1" | jq -r '.details[]? | select(.debug.reason) | .debug.reason'; }

# get FILTER FILE: a field of JSON as text; empty where it stands at its default. fair.jq has more filters,
# for bytes.
get() { jq -r -L "$here" "include \"fair\"; $1 // empty" "$2"; }

# ---- Signing in, a table, a seat

token=''
body=$(jq -nc --arg id "$(request_id)" '{requestId: $id, name: "curl"}')
call PeopleService/SignInAsGuest "$body" >"$work/guest"
# The same call again is the same player: a call without an answer is simply repeated.
call PeopleService/SignInAsGuest "$body" >"$work/again"
check "a repeated call" "$(get .playerId "$work/guest")" "$(get .playerId "$work/again")"
player=$(get ".playerId | uuid" "$work/guest")

# Looking needs no token.
call TableService/ListTables '{}' >"$work/tables"
table_id=$(jq -r --arg game "$game" \
  'first(.tables[] | select(.variant == $game and (.seated // 0) < .seats) | .tableId)' "$work/tables")
[ -n "$table_id" ] || fail "no table of $game has a free seat"
table=$(printf %s "$table_id" | tr -d -)

token=$(get .tokens.accessToken "$work/guest")
call TableService/GetTable "$(jq -nc --arg table "$table_id" '{tableId: $table}')" >"$work/view"
body=$(jq -nc --arg id "$(request_id)" --arg table "$table_id" --arg credits "$(get .table.maxBuyInCredits "$work/view")" \
  '{requestId: $id, tableId: $table, buyInCredits: $credits}')
call TableService/SitDown "$body" >"$work/seated" || fail "no seat was given: $(cat "$work/seated")"
call TableService/SitDown "$body" >"$work/again"
seat=$(get .seat "$work/seated")
check "a repeated seat" "$seat" "$(get .seat "$work/again")"

# ---- Chance: commit, check the closing, reveal

dealer_key=$(log_key dealer "$keys")
table_key=$(log_key table "$keys")
hand_no=''
revealed=''

# receipt TAG FILE FIELD...: checks the table's signature under a receipt: over the fields and its position.
receipt() {
  receipt_tag=$1 receipt_file=$2
  shift 2
  position=$(get '.receipt.position | u64' "$receipt_file")
  message=$(signed_text "$receipt_tag" "$table_key" "$@" "$position")
  check_signature "$table_key" "$message" "$(get '.receipt.signature | bytes' "$receipt_file")" "the receipt"
}

# commit PART: commits to entropy for the hand that this part of the view tells of: `nextHand`, the hand to
# come, or `entropy`, one that is open and takes commitments.
commit() {
  next=".table.$1 | "
  hand_no=$(get "$next .handNo" "$work/view")
  rules=$(sha256 "$(get "$next (.ruleSet | text | lp) + (.settings | text | lp)" "$work/view")")
  origin=$(get "$next .commitment.origin | text" "$work/view")
  dealer=$(get "$next .commitment.commitment | bytes" "$work/view")
  context=$(tagged ctx "$origin" "$table" "$(u64 "$hand_no")" "$rules")
  message=$(signed_text dealer-commit-sig "$dealer_key" "$origin" "$table" "$(u64 "$hand_no")" "$rules" "$dealer")
  check_signature "$dealer_key" "$message" "$(get "$next .commitment.signature | bytes" "$work/view")" \
    "the dealer's commitment"
  entropy=$(openssl rand -hex 32)
  public=$(new_key "$work/own.pem")
  commitment=$(tagged client-commit "$context" "$dealer" "$(u8 "$seat")" "$player" "$entropy")
  body=$(jq -nc --arg id "$(request_id)" --arg table "$table_id" --arg hand "$hand_no" \
    --arg commitment "$(to64 "$commitment")" --arg key "$(to64 "$public")" \
    '{requestId: $id, tableId: $table, handNo: $hand, commitment: $commitment, key: $key}')
  if ! call TableService/CommitEntropy "$body" >"$work/receipt"; then
    hand_no='' # Too late for this number: the next one will be announced.
    return
  fi
  call TableService/CommitEntropy "$body" >"$work/again"
  cmp -s "$work/receipt" "$work/again" || fail "a repeated commitment got another receipt"
  receipt receipt-sig "$work/receipt" "$context" "$dealer" "$(u8 "$seat")" "$player" "$commitment" "$public"
}

# reveal: reveals what was committed to, once the dealer has signed that the hand is made of it.
reveal() {
  closed='.table.entropy.closing | '
  own=$(get "$closed .rows[] | select(.seat == $seat) | .commitment | bytes" "$work/view")
  if [ -z "$own" ]; then
    hand_no='' # Not dealt in yet, or too late: the next one.
    return
  fi
  check "our commitment in the closing" "$own" "$commitment"
  rows=$(get "$closed .rows | (length | u8 | lp) + (map(closing_row | lp) | add)" "$work/view")
  closing=$(sha256 "$(lp "$(text sabacc/fair/v1/closing)" "$context" "$dealer")$rows")
  check "the closing" "$closing" "$(get "$closed .closing | bytes" "$work/view")"
  message=$(signed_text closing-sig "$dealer_key" "$context" "$dealer" "$closing")
  check_signature "$dealer_key" "$message" "$(get "$closed .signature | bytes" "$work/view")" "the closing"
  body=$(jq -nc --arg id "$(request_id)" --arg table "$table_id" --arg hand "$hand_no" --arg entropy "$(to64 "$entropy")" \
    '{requestId: $id, tableId: $table, handNo: $hand, entropy: $entropy}')
  call TableService/RevealEntropy "$body" >"$work/reveal" || fail "the reveal was refused: $(cat "$work/reveal")"
  if [ -z "$(get .receipt "$work/reveal")" ]; then
    # Later than `reveal_ms` after the closing: the number is burnt, and we are not dealt in for a while.
    hand_no=''
    return
  fi
  receipt reveal-receipt-sig "$work/reveal" "$context" "$dealer" "$(u8 "$seat")" "$player" "$entropy"
  revealed=$hand_no
}

# check_transcript: the hand that has started is made of what the seats brought.
check_transcript() {
  rows=$(get '.table.hand.rows | (length | u8 | lp) + (map(transcript_row | lp) | add)' "$work/view")
  # The empty field is the place of a public beacon; none is defined.
  transcript=$(sha256 "$(lp "$(text sabacc/fair/v1/transcript)" "$context" "$dealer" '')$rows")
  check "the transcript" "$transcript" "$(get '.table.hand.transcript | bytes' "$work/view")"
}

# ---- Decisions

# decide: makes one of the legal moves, from LegalMove alone, and signs it. See move.jq.
decide() {
  jq -c --argjson seat "$seat" --argjson random "$(od -An -N2 -tu2 /dev/urandom)" -f "$here/move.jq" "$work/view" >"$work/move"
  chain=$(get '.table.hand.chain | bytes' "$work/view")
  signature=''
  if [ "$(get .table.hand.handNo "$work/view")" = "$revealed" ]; then
    chain=$(tagged decision "$chain" 00 "$(text "$(get .line "$work/move")")")
    message=$(signed_text decision-sig "$public" "$context" "$chain" "$(text "$(get .said "$work/move")")")
    signature=$(to64 "$(sign "$work/own.pem" "$message")")
  fi
  body=$(jq -c --arg id "$(request_id)" --arg table "$table_id" --arg signature "$signature" --slurpfile view "$work/view" \
    '{requestId: $id, tableId: $table, handNo: $view[0].table.hand.handNo, turn: $view[0].table.hand.turn.turn,
      decision: .decision, signature: $signature}' "$work/move")
  if ! answer=$(call TableService/Act "$body"); then
    case $(refused "$answer") in
      # The clock was faster, or a leave has come between: the next look says what is due.
      NOT_YOUR_TURN | SIGNATURE_INVALID) return ;;
      *) fail "a legal move was refused: $answer" ;;
    esac
  fi
  [ -n "$signature" ] || return 0
  # The same decision again: it counts once, and has the same answer.
  check "a repeated decision" "$(printf %s "$answer" | jq -cS .)" "$(call TableService/Act "$body" | jq -cS .)"
  printf %s "$answer" >"$work/acted"
  check "the chain in the receipt" "$chain" "$(get '.receipt.chain | bytes' "$work/acted")"
  receipt decision-receipt-sig "$work/acted" "$context" "$chain"
  decided=$((decided + 1))
}

# ---- Following the table

# watch SECONDS: follows the table for so long, from where the last stream was dropped, and writes each
# message to `updates`. A stream of Connect is messages behind a byte of flags and their length.
watch() {
  body=$(jq -nc --arg table "$table_id" --arg resume "$resume" '{tableId: $table, resumeToken: $resume}')
  { printf '00%08x' "${#body}" | bytes && printf %s "$body"; } >"$work/request"
  # The stream is cut off by --max-time: that is no failure here.
  curl -sS -N --max-time "$1" -H "authorization: Bearer $token" -H 'content-type: application/connect+json' \
    --data-binary @"$work/request" "$url/sabacc.table.v1.TableService/WatchTable" >"$work/stream" 2>"$work/curl" || true
  size=$(wc -c <"$work/stream") at=0
  while [ $((at + 5)) -le "$size" ]; do
    # shellcheck disable=SC2046
    set -- $(od -An -tu1 -j "$at" -N 5 "$work/stream")
    length=$((($2 << 24) + ($3 << 16) + ($4 << 8) + $5))
    # What was cut off in the middle is sent again.
    [ $((at + 5 + length)) -le "$size" ] || break
    # A flag of 2 marks the end of the stream, with its error if it has one.
    [ "$1" -lt 2 ] || break
    tail -c +$((at + 6)) "$work/stream" | head -c "$length" >"$work/message"
    resume=$(get .resumeToken "$work/message")
    jq -c . "$work/message" >>"$work/updates"
    at=$((at + 5 + length))
  done
}

# check_updates: nothing was missed or repeated over all the streams; and the decisions that we were told
# of give the chain, from the transcript on.
check_updates() {
  jq -r 'select(.update) | .update.sequence' "$work/updates" >"$work/sequences"
  first=$(head -n 1 "$work/sequences")
  seq "$first" "$(tail -n 1 "$work/sequences")" | cmp -s - "$work/sequences" || fail "an update is missing, or came twice"
  get ".update.action // empty | select(.handNo == \"$revealed\" and .chainLine)
    | [(if .byClock then \"01\" else \"00\" end), (.chain | bytes), (.chainLine | text)] | join(\" \")" \
    "$work/updates" >"$work/decisions"
  chain=$transcript
  while read -r by_clock told line; do
    chain=$(tagged decision "$chain" "$by_clock" "$line")
    check "the chain of decisions" "$chain" "$told"
  done <"$work/decisions"
}

# ---- One hand

# look: reads the table as we may see it, and what is to be done there.
look() {
  call TableService/GetTable "$(jq -nc --arg table "$table_id" '{tableId: $table}')" >"$work/view"
  jq -r --argjson seat "$seat" '.table | .entropy as $open
    | [.handNo, .nextHand.handNo, (if $open.closed then 0 elif $open.roster // [] | index($seat) then $open.handNo else 0 end),
      (if $open.closed then $open.handNo else 0 end), .hand.handNo, .hand.turn.seat] | map(. // 0) | join(" ")' \
    "$work/view" >"$work/state"
  read -r table_no next_no open_no closed_no hand_in_play turn_seat <"$work/state"
}

resume='' decided=0 transcript='' seed=''
: >"$work/updates"
while [ -z "$seed" ]; do
  look
  if [ -z "$revealed" ]; then
    # We have no part in a hand yet: nothing else comes first, for the time to commit and reveal is short.
    if [ -z "$hand_no" ] && [ "$open_no" != 0 ]; then
      commit entropy
    elif [ -z "$hand_no" ] && [ "$next_no" -gt "$table_no" ]; then
      commit nextHand
    elif [ -n "$hand_no" ] && [ "$closed_no" = "$hand_no" ]; then
      reveal
    elif [ -n "$hand_no" ] && [ "$table_no" -gt "$hand_no" ]; then
      hand_no='' # That number came to nothing.
    fi
  elif [ -z "$transcript" ] && [ "$hand_in_play" = "$revealed" ]; then
    check_transcript
  fi
  if [ "$turn_seat" = "$seat" ]; then
    decide
  elif [ -n "$transcript" ]; then
    watch 0.4
    seed=$(get ".update.seed // empty | select(.handNo == \"$revealed\") | .seed | bytes" "$work/updates")
  elif [ -z "$resume" ]; then
    watch 0.3
  else
    sleep 0.05
  fi
done
call TableService/StandUp "$(jq -nc --arg id "$(request_id)" --arg table "$table_id" '{requestId: $id, tableId: $table}')" >"$work/left"

[ "$decided" -gt 0 ] || fail "nothing was decided"
check_updates
check "the dealer's commitment" "$(tagged dealer-commit "$context" "$seed")" "$dealer"
curl -sS --fail -o "$out/$game.sabacc" "$url/hands/$table_id/$hand_no.sabacc"
printf %s "$seat" >"$out/$game.seat"
printf '%s: hand %s is over; seat %s has decided %s times, and followed it over streams that broke\n' \
  "$game" "$hand_no" "$seat" "$decided"
