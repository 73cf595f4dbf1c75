-- synchronous_commit is set by each of our sessions; the value that it is reset to counts as well, since a
-- pooler between us may lose what a session set.
SELECT current_setting('fsync')::boolean AS fsync,
    current_setting('full_page_writes')::boolean AS full_page_writes,
    current_setting('synchronous_commit') AS commit_here,
    (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS commit_elsewhere,
    current_setting('server_encoding') AS encoding
