    -- Rows that somebody put where these go. Asking for each costs a tenth to a quarter of the statement.
    ON CONFLICT (account, position) DO UPDATE SET amount = excluded.amount,
        balance = excluded.balance, other = excluded.other, kind = excluded.kind,
        reason = excluded.reason
