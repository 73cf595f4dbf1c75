# Runs a database server for as long as standard input stays open.
#
#   sh -c <this> watch CLUSTER SIGNAL SOCKETS DATA PROGRAM ARGUMENT...
#
# Whoever started us holds the other end of standard input; when they end, however they end, the
# system closes it, and the server is told to stop. SOCKETS and DATA, where not empty, are folders
# to remove afterwards.
cluster=$1 signal=$2 sockets=$3 data=$4
shift 4
exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
{
    while read -r _ <&3; do :; done
    # Repeated, since a signal that comes before the server listens for it is lost. The server's
    # own note of its number counts, since PROGRAM may be a wrapper around it.
    while kill -0 "$server"; do
        pid=$server
        [ -r "$cluster/postmaster.pid" ] && read -r pid <"$cluster/postmaster.pid"
        kill -s "$signal" "$pid"
        sleep 1
    done
} >/dev/null 2>&1 &
watcher=$!
wait "$server"
code=$?
kill "$watcher" 2>/dev/null
[ -z "$sockets" ] || rm -rf -- "$sockets"
[ -z "$data" ] || rm -rf -- "$data"
exit "$code"
