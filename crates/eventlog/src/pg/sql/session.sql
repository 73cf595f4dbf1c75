-- $1 schema
SELECT set_config('search_path', quote_ident($1), false),
    set_config('synchronous_commit',
        CASE current_setting('synchronous_commit')
            WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
    set_config('default_transaction_isolation', 'read committed', false)
