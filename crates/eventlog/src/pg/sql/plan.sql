SELECT set_config('plan_cache_mode', 'force_generic_plan', false),
    set_config('lock_timeout', '5s', false)
