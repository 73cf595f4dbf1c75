//! Parsing of payloads to the ledger's events, field by field.

use super::*;

type Read<T> = Result<T, WalletEventError>;

/// Parses the payload of any event of the wallet.
pub(super) fn event(record: &WalletRecord) -> Read<Event> {
    match record {
        WalletRecord::AccountOpened(pb::AccountOpened { account: name }) => {
            account("account", name).map(Event::AccountOpened)
        }
        WalletRecord::TransferPosted(it) => posted(it).map(Event::TransferPosted),
        WalletRecord::AccountFrozen(pb::AccountFrozen { player_id, reason }) => {
            let player = id("player_id", player_id)?;
            Ok(Event::AccountFrozen { player, reason: reason.clone() })
        }
        WalletRecord::AccountUnfrozen(pb::AccountUnfrozen { player_id, reason }) => {
            let player = id("player_id", player_id)?;
            Ok(Event::AccountUnfrozen { player, reason: reason.clone() })
        }
        WalletRecord::AccountClosed(pb::AccountClosed { player_id, reason }) => {
            let player = id("player_id", player_id)?;
            Ok(Event::AccountClosed { player, reason: reason.clone() })
        }
        WalletRecord::HoldPlaced(it) => placed(it).map(Event::HoldPlaced),
        WalletRecord::HoldReleased(pb::HoldReleased { hold_id, from, to, amount }) => {
            ended(hold_id, from, to, *amount).map(Event::HoldReleased)
        }
        WalletRecord::HoldExpired(pb::HoldExpired { hold_id, from, to, amount }) => {
            ended(hold_id, from, to, *amount).map(Event::HoldExpired)
        }
        WalletRecord::LimitsSet(it) => limits_set(it),
        WalletRecord::PlayerExcluded(pb::PlayerExcluded { player_id, until_micros }) => {
            let until = until_micros.map(UnixMicros);
            Ok(Event::PlayerExcluded { player: id("player_id", player_id)?, until })
        }
        WalletRecord::AdjustmentProposed(it) => proposed(it).map(Event::AdjustmentProposed),
        WalletRecord::AdjustmentRejected(it) => rejected(it),
        WalletRecord::SnapshotTaken(pb::SnapshotTaken { sha256 }) => {
            let digest =
                <[u8; 32]>::try_from(&sha256[..]).map_err(|_| WalletEventError::Field("sha256"))?;
            Ok(Event::SnapshotTaken { digest })
        }
        WalletRecord::ClockStepped(_) => {
            Err(PayloadError::Foreign(WalletRecord::SERVICE, record.name().to_owned()).into())
        }
    }
}

fn posted(message: &pb::TransferPosted) -> Read<PostedTransfer> {
    let pb::TransferPosted {
        transfer_id,
        kind,
        legs,
        table_id,
        // Follows from the kind and the id. The comparison of the whole payload checks it.
        hand_id: _,
        reason,
        hold_id,
        keep_rest,
        adjustment_id,
        approved_by,
    } = message;
    let table = || id("table_id", table_id);
    let kind = match TransferKind::try_from(*kind) {
        Ok(TransferKind::Issue) => Kind::Issue,
        Ok(TransferKind::Redeem) => Kind::Redeem,
        Ok(TransferKind::BuyIn) => Kind::BuyIn,
        Ok(TransferKind::CashOut) => Kind::CashOut,
        Ok(TransferKind::Settlement) => Kind::Settlement { table: table()? },
        Ok(TransferKind::PotRefund) => Kind::PotRefund { table: table()? },
        Ok(TransferKind::Adjustment) => {
            Kind::Adjustment { adjustment: id("adjustment_id", adjustment_id)? }
        }
        Ok(TransferKind::Capture) => {
            Kind::Capture { hold: id("hold_id", hold_id)?, keep_rest: *keep_rest }
        }
        Ok(TransferKind::Unspecified) | Err(_) => return Err(WalletEventError::Field("kind")),
    };
    let legs = legs.iter().map(leg).collect::<Read<_>>()?;
    let transfer =
        Transfer { id: id("transfer_id", transfer_id)?, kind, legs, reason: reason.clone() };
    let approved_by = (!approved_by.is_empty()).then(|| approved_by.as_str().into());
    let adjusts = matches!(kind, Kind::Adjustment { .. });
    if approved_by.is_some() && !adjusts {
        return Err(WalletEventError::Field("approved_by"));
    }
    Ok(PostedTransfer { transfer, approved_by })
}

fn leg(leg: &PbLeg) -> Read<Leg> {
    let PbLeg { account: name, amount } = leg;
    Ok(Leg { account: account("account", name)?, amount: signed(*amount)? })
}

fn placed(message: &pb::HoldPlaced) -> Read<Hold> {
    let pb::HoldPlaced { hold_id, from, to, amount, expires_micros } = message;
    Ok(Hold {
        id: id("hold_id", hold_id)?,
        from: account("from", from)?,
        to: account("to", to)?,
        amount: credits("amount", *amount)?,
        expires_at: UnixMicros(*expires_micros),
    })
}

fn ended(hold_id: &[u8], from: &str, to: &str, amount: u64) -> Read<EndedHold> {
    Ok(EndedHold {
        hold: id("hold_id", hold_id)?,
        from: account("from", from)?,
        to: account("to", to)?,
        amount: credits("amount", amount)?,
    })
}

fn proposed(message: &pb::AdjustmentProposed) -> Read<Adjustment> {
    let pb::AdjustmentProposed { adjustment_id, account: name, amount, reason, proposed_by } =
        message;
    Ok(Adjustment {
        id: id("adjustment_id", adjustment_id)?,
        account: account("account", name)?,
        amount: signed(*amount)?,
        reason: reason.clone(),
        proposed_by: proposed_by.clone(),
    })
}

fn rejected(message: &pb::AdjustmentRejected) -> Read<Event> {
    let pb::AdjustmentRejected { adjustment_id, account: name, reason } = message;
    Ok(Event::AdjustmentRejected {
        adjustment: id("adjustment_id", adjustment_id)?,
        account: account("account", name)?,
        reason: reason.clone(),
    })
}

fn limits_set(message: &pb::LimitsSet) -> Read<Event> {
    let pb::LimitsSet { player_id, by, now, later, later_micros, measure } = message;
    let by = match pb::LimitSetter::try_from(*by) {
        Ok(pb::LimitSetter::Player) => LimitSetter::Player,
        Ok(pb::LimitSetter::Operator) => LimitSetter::Operator,
        Ok(pb::LimitSetter::Unspecified) | Err(_) => return Err(WalletEventError::Field("by")),
    };
    let now = now.as_ref().ok_or(WalletEventError::Field("now"))?;
    let later = later.as_ref().map(|later| (UnixMicros(*later_micros), later));
    let seconds = |field, limit| {
        let seconds = Seconds(limit);
        if seconds <= Seconds::MAX { Ok(seconds) } else { Err(WalletEventError::Field(field)) }
    };
    let terms = match LimitMeasure::try_from(*measure) {
        Ok(LimitMeasure::BuyIn) => MeasureTerms::BuyIn(terms(now, later, credits)?),
        Ok(LimitMeasure::Loss) => MeasureTerms::Loss(terms(now, later, credits)?),
        Ok(LimitMeasure::Time) => MeasureTerms::Time(terms(now, later, seconds)?),
        Ok(LimitMeasure::Unspecified) | Err(_) => return Err(WalletEventError::Field("measure")),
    };
    Ok(Event::LimitsSet { player: id("player_id", player_id)?, by, terms })
}

fn terms<T: Copy + Ord>(
    now: &pb::WindowLimits,
    later: Option<(UnixMicros, &pb::WindowLimits)>,
    unit: impl Fn(&'static str, u64) -> Read<T>,
) -> Read<LimitTerms<T>> {
    let limits = |message: &pb::WindowLimits| -> Read<Limits<T>> {
        let pb::WindowLimits { day, week, month } = *message;
        Ok(Limits {
            day: day.map(|limit| unit("day", limit)).transpose()?,
            week: week.map(|limit| unit("week", limit)).transpose()?,
            month: month.map(|limit| unit("month", limit)).transpose()?,
        })
    };
    let later = match later {
        Some((from, later)) => Some((from, limits(later)?)),
        None => None,
    };
    Ok(LimitTerms { now: limits(now)?, later })
}

fn id<'a, T: TryFrom<&'a [u8]>>(field: &'static str, bytes: &'a [u8]) -> Read<T> {
    T::try_from(bytes).map_err(|_| WalletEventError::Field(field))
}

fn account(field: &'static str, name: &str) -> Read<Account> {
    name.parse().map_err(|_| WalletEventError::Field(field))
}

fn credits(field: &'static str, amount: u64) -> Read<Credits> {
    Credits::try_new(amount).map_err(|_| WalletEventError::Field(field))
}

fn signed(amount: i64) -> Read<Amount> {
    Amount::try_new(amount).map_err(|_| WalletEventError::Field("amount"))
}
