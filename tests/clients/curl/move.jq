# One of the legal moves of a table's view, from LegalMove alone. Six lines: the hand's number, the turn, the
# chain so far, the decision's line in the chain, what is said, all three in hexadecimal, and the move in JSON.
# $seat: the own seat; $random: a number.

include "fair";

def verb: ltrimstr("MOVE_KIND_") | ascii_downcase | gsub("_"; "-") | if . == "draw-from" then "draw" else . end;

# The move that a line of the list allows, each argument filled in with the first choice.
def fill_in:
  . as $legal
  | reduce (.moveArguments // [])[] as $argument ({kind: .kind};
      if $argument == "MOVE_ARGUMENT_CARDS" then .cards = $legal.cards[: ($legal.minCards // 0)]
      elif $argument == "MOVE_ARGUMENT_AMOUNT" then .amountCredits = $legal.minCredits
      elif $argument == "MOVE_ARGUMENT_SEAT" then .targetSeat = $legal.targetSeats[0]
      elif $argument == "MOVE_ARGUMENT_VALUE" then .value = $legal.values[0]
      else .names = $legal.names[: $legal.namesCount] end);

# Where the named cards lie. Of cards that look alike, the first one that was not named yet.
def places($held):
  reduce (.cards // [])[] as $code ({left: $held, places: []};
    (.left | map(.code) | index($code)) as $at
    | .places += [.left[$at].proof | "\(.op // 0).\(.position // 0)"]
    | .left |= del(.[$at]))
  | .places;

.table.hand as $hand
| ($hand.seats | map(.seat)) as $seats
| def player: . as $of | "p\(($seats | index($of)) + 1)";
  ([$hand.turn.legal[] | select(.kind != "MOVE_KIND_LEAVE")]) as $offered
| ([$offered[] | select(.kind != "MOVE_KIND_FOLD" and .kind != "MOVE_KIND_JUNK")]) as $liked
# Whoever may call the hand does: a shell is slow, and hands are long.
| ([$liked[] | select(.kind == "MOVE_KIND_CALL_HAND")]) as $call
| (if $call != [] then $call elif $liked == [] then $offered else $liked end) as $choices
| $choices[$random % ($choices | length)] as $legal
| ($legal | fill_in) as $move
| ([$seat | player, ($move.kind | verb)] + ($move | places($hand.seats[] | select(.seat == $seat) | .cards // []))) as $open
| ((if $move.kind == "MOVE_KIND_BET" or $move.kind == "MOVE_KIND_RAISE" then [$move.amountCredits] else [] end)
    + ($move.names // [])
    + (if $move.targetSeat then [$move.targetSeat | player] else [] end)
    + (if $move.value then ["\($move.value)"] else [] end)) as $choice
| $hand.handNo, $hand.turn.turn, ($hand.chain | bytes),
  ($open + (if $legal.secret then $choice | map("??") else $choice end) | join(" ") | text),
  ($open + $choice | join(" ") | text), ($move | tojson)
