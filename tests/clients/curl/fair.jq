# Bytes out of JSON, as hexadecimal text in lower case.

def hex_byte:
  "0123456789abcdef" as $digits | (. / 16 | floor) as $high
  | $digits[$high:$high + 1] + $digits[. % 16:. % 16 + 1];

# A number, big-endian, in so many bytes. 64-bit numbers are strings in JSON; they count up to 2^53 here.
def number($width):
  reduce range($width) as $_ ({left: ((. // 0) | tonumber), bytes: ""};
    .bytes = (.left % 256 | hex_byte) + .bytes | .left = (.left / 256 | floor))
  | .bytes;
def u8: number(1);
def u64: number(8);

# The bytes of a field of type `bytes`, which is base64; nothing where it is absent.
def bytes:
  reduce ((. // "") | explode[]) as $sign ({bits: 0, left: 0, hex: ""};
    (if $sign == 43 then 62 elif $sign == 47 then 63 elif $sign == 61 then -1
      elif $sign < 58 then $sign + 4 elif $sign < 91 then $sign - 65 else $sign - 71 end) as $value
    | if $value < 0 then . else .left = .left * 64 + $value | .bits += 6 end
    | if .bits >= 8 then
        .bits -= 8 | pow(2; .bits) as $rest
        | .hex += (.left / $rest | floor | hex_byte) | .left = .left % $rest
      else . end)
  | .hex;

# The bytes of a text.
def text: @base64 | bytes;
# The 16 bytes of a UUID.
def uuid: split("-") | add;
# Behind its length in bytes.
def lp: (length / 2 | number(4)) + .;

def zeros: "00" * 32;
# Bytes, or 32 zeros where there are none.
def or_zeros: bytes | if . == "" then zeros else . end;

# A row of a closing, 50 bytes, and of a transcript, 82 bytes.
def closing_row:
  (.seat | u8) + (.playerId | uuid) + (if .commitment then "01" else "00" end) + (.commitment | or_zeros);
def transcript_row:
  (.seat | u8) + (.playerId | uuid) + (if .status == "ENTROPY_STATUS_REVEALED" then "01" else "03" end)
  + (.commitment | or_zeros) + (.entropy | or_zeros);
