-- $1 service, $2 password; the lock is any number that only this uses
SELECT set_config('sabacc.service', $1, true), set_config('sabacc.password', $2, true),
    pg_advisory_xact_lock(5350202)
